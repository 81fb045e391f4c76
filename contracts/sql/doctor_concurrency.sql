SELECT headway.definition.name
FROM headway.definition JOIN headway.run ON headway.run.definition_id = headway.definition.id
WHERE headway.definition.max_concurrent_runs > 0 AND headway.run.gated AND headway.run.counted AND headway.run.state = 3 GROUP BY headway.definition.id
HAVING count(*) > headway.definition.max_concurrent_runs
