-- $1 ids
SELECT distinct(headway.run.definition_id) AS distinct_1
FROM headway.run
WHERE headway.run.id = any($1::UUID[]) AND headway.run.gated
