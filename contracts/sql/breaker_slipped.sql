SELECT DISTINCT headway.run.definition_id
FROM headway.run, headway.breaker
WHERE headway.run.definition_id = headway.breaker.definition AND headway.breaker.state = 1 AND headway.run.state = 2
