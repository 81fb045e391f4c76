-- $1 since
-- $2 definitions
SELECT headway.definition.id, headway.definition.max_concurrent_runs, headway.definition.max_runs_per_hour, headway.definition.over_limit = 'refuse' AS refuse, headway.definition.paused_at IS NOT NULL AS paused, headway.definition.updated_at, CASE WHEN headway.definition.tripped THEN coalesce((SELECT headway.breaker.state
FROM headway.breaker
WHERE headway.breaker.definition = headway.definition.id), 0) ELSE 0 END AS breaker, array((SELECT CASE WHEN (headway.restriction.first = headway.definition.id) THEN headway.restriction.second ELSE headway.restriction.first END AS anon_1
FROM headway.restriction
WHERE headway.restriction.first = headway.definition.id OR headway.restriction.second = headway.definition.id)) AS partners, (SELECT count(*) AS count_1
FROM headway.run
WHERE headway.run.definition_id = headway.definition.id AND headway.run.gated AND headway.run.state IN (2, 3)) AS active, (SELECT count(*) AS count_2
FROM headway.run
WHERE headway.run.definition_id = headway.definition.id AND headway.run.gated AND headway.run.state IN (2, 3) AND NOT headway.run.counted) AS uncounted, (SELECT coalesce(sum(headway.rate_bucket.runs), 0) AS coalesce_1
FROM headway.rate_bucket
WHERE headway.rate_bucket.definition = headway.definition.id AND headway.rate_bucket.minute > $1::TIMESTAMP WITH TIME ZONE) AS last_hour, (SELECT min(headway.rate_bucket.minute) AS min_1
FROM headway.rate_bucket
WHERE headway.rate_bucket.definition = headway.definition.id AND headway.rate_bucket.minute > $1::TIMESTAMP WITH TIME ZONE) AS oldest
FROM headway.definition
WHERE headway.definition.id = any($2::UUID[])
