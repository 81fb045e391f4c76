-- $1 limit
SELECT headway.breaker.definition, headway.breaker.state, headway.breaker.since, headway.breaker.failures, headway.breaker.opened_at, headway.breaker.reopen_at, headway.definition.name, headway.definition.tenant, headway.definition.watch
FROM headway.breaker, headway.definition
WHERE headway.definition.id = headway.breaker.definition AND (headway.breaker.state = 1 AND headway.breaker.reopen_at <= headway.headway_now() OR headway.breaker.state != 0 AND CAST(headway.definition.watch ->> 'breaker_threshold' AS INTEGER) = 0) ORDER BY headway.breaker.definition
 LIMIT $1::INTEGER FOR UPDATE OF breaker SKIP LOCKED
