-- $1 at
DELETE FROM headway.slot WHERE headway.slot.slot_at < $1::TIMESTAMP WITH TIME ZONE
