-- $1 since
WITH stopped AS MATERIALIZED
(SELECT headway.definition.id AS id, CASE WHEN (headway.definition.paused_at IS NOT NULL) THEN 1 ELSE 6 END AS cause, coalesce(headway.definition.paused_at, headway.breaker.since) AS since
FROM headway.definition LEFT OUTER JOIN headway.breaker ON headway.definition.tripped AND headway.breaker.definition = headway.definition.id
WHERE headway.definition.paused_at IS NOT NULL OR headway.breaker.state = 1)
 SELECT stopped.id, stopped.cause
FROM stopped JOIN headway.run ON headway.run.definition_id = stopped.id
WHERE headway.run.state = 2 UNION SELECT stopped.id, stopped.cause
FROM stopped JOIN headway.run ON headway.run.definition_id = stopped.id
WHERE NOT headway.run.gated AND stopped.since > $1::TIMESTAMP WITH TIME ZONE
