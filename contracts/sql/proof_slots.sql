-- $1 tzdata
-- $2 of
-- $3 after
-- $4 until
-- $5 limit
SELECT headway.slot.slot_at, coalesce(nullif(headway.slot.tzdata_version, $1::VARCHAR), '') AS tzdata
FROM headway.slot
WHERE headway.slot.schedule = $2::UUID AND headway.slot.slot_at > $3::TIMESTAMP WITH TIME ZONE AND headway.slot.slot_at <= $4::TIMESTAMP WITH TIME ZONE ORDER BY headway.slot.slot_at
 LIMIT $5::INTEGER
