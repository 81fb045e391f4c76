-- $1 of
SELECT headway.schedule.decided_until
FROM headway.schedule
WHERE headway.schedule.id = $1::UUID
