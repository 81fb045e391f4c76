-- $1 of
-- $2 after
-- $3 until
SELECT headway.slot_range.from_at, headway.slot_range.to_at, headway.slot_range.decision, headway.slot_range.reason
FROM headway.slot_range
WHERE headway.slot_range.schedule = $1::UUID AND headway.slot_range.to_at > $2::TIMESTAMP WITH TIME ZONE AND headway.slot_range.from_at < $3::TIMESTAMP WITH TIME ZONE
