-- $1 parents
SELECT headway.batch.parent
FROM headway.batch
WHERE headway.batch.parent = any($1::UUID[]) AND headway.batch.ended_at IS NULL ORDER BY headway.batch.parent FOR UPDATE
