-- $1 of
SELECT headway.run.id
FROM headway.run
WHERE headway.run.definition_id = $1::UUID AND headway.run.state < 3 AND headway.run.cause != 5 ORDER BY headway.run.id
