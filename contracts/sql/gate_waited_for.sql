SELECT distinct(headway.run.definition_id) AS distinct_1
FROM headway.run
WHERE headway.run.state = 0 AND headway.run.cause IN (1, 6, 2, 8)
