-- $1 parents
SELECT headway.batch.parent, headway.batch.total
FROM headway.batch
WHERE headway.batch.parent = any($1::UUID[])
