-- $1 tzdata
-- $2 of
-- $3 after
-- $4 until
SELECT headway.slot_range.from_at, headway.slot_range.to_at, headway.slot_range.slots, coalesce(nullif(headway.slot_range.tzdata_version, $1::VARCHAR), '') AS tzdata, headway.slot_range.decided_at
FROM headway.slot_range
WHERE headway.slot_range.schedule = $2::UUID AND headway.slot_range.to_at > $3::TIMESTAMP WITH TIME ZONE AND headway.slot_range.from_at < $4::TIMESTAMP WITH TIME ZONE ORDER BY headway.slot_range.from_at
