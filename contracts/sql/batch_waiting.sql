-- $1 parent
-- $2 limit
SELECT headway.run.id
FROM headway.run
WHERE headway.run.parent = $1::UUID AND headway.run.batch_index IS NOT NULL AND headway.run.state = 0 AND headway.run.cause = 11 ORDER BY headway.run.batch_index
 LIMIT $2::INTEGER
