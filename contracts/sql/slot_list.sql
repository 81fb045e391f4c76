-- $1 of
-- $2 before
-- $3 limit
SELECT headway.slot.schedule, headway.slot.slot_at, headway.slot.decision, headway.slot.reason, headway.slot.detail, headway.slot.effective_at, headway.slot.run, headway.slot.decided_at, headway.slot.decided_by, headway.slot.schedule_version, headway.slot.tzdata_version, headway.slot.calendar_versions
FROM headway.slot
WHERE headway.slot.schedule = $1::UUID AND ($2::TIMESTAMP WITH TIME ZONE IS NULL OR headway.slot.slot_at < $2::TIMESTAMP WITH TIME ZONE) ORDER BY headway.slot.slot_at DESC
 LIMIT $3::INTEGER
