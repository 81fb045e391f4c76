-- $1 of
-- $2 limit
SELECT headway.slot_range.schedule, headway.slot_range.from_at, headway.slot_range.to_at, headway.slot_range.decision, headway.slot_range.reason, headway.slot_range.detail, headway.slot_range.slots, headway.slot_range.decided_at, headway.slot_range.decided_by, headway.slot_range.schedule_version, headway.slot_range.tzdata_version, headway.slot_range.calendar_versions
FROM headway.slot_range
WHERE headway.slot_range.schedule = $1::UUID ORDER BY headway.slot_range.from_at DESC
 LIMIT $2::INTEGER
