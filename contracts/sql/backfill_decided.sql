-- $1 of
-- $2 slots
SELECT headway.slot.slot_at, headway.slot.decision, headway.slot.reason, headway.slot.run
FROM headway.slot
WHERE headway.slot.schedule = $1::UUID AND headway.slot.slot_at = any($2::TIMESTAMP WITH TIME ZONE[])
