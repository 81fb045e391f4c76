-- $1 schedules
SELECT headway.run.id
FROM headway.run
WHERE headway.run.schedule = any($1::UUID[]) AND headway.run.origin = 1 AND headway.run.cancel_requested_at IS NULL ORDER BY headway.run.id
