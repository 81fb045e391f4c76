-- $1 parent
SELECT headway.run.id
FROM headway.run
WHERE headway.run.id = $1::UUID AND headway.run.cancel_requested_at IS NOT NULL
