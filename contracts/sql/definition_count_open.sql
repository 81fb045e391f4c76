-- $1 of
SELECT count(*) AS count_1
FROM headway.run
WHERE headway.run.definition_id = $1::UUID
