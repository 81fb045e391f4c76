-- $1 at
DELETE FROM headway.slot_range WHERE headway.slot_range.to_at < $1::TIMESTAMP WITH TIME ZONE
