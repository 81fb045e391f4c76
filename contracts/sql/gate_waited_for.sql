SELECT distinct(headway.run.definition_id) AS distinct_1
FROM headway.run
WHERE headway.run.state = 0 AND (headway.run.cause = 2 OR headway.run.cause = 1)
