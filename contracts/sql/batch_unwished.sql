-- $1 parents
-- $2 limit
SELECT headway.run.id
FROM headway.run
WHERE headway.run.parent = any($1::UUID[]) AND headway.run.batch_index IS NOT NULL AND headway.run.cancel_requested_at IS NULL ORDER BY headway.run.id
 LIMIT $2::INTEGER
