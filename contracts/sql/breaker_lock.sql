-- $1 definition
SELECT headway.breaker.definition, headway.breaker.state, headway.breaker.since, headway.breaker.failures, headway.breaker.opened_at, headway.breaker.reopen_at, headway.definition.name, headway.definition.tenant, headway.definition.watch
FROM headway.breaker, headway.definition
WHERE headway.definition.id = headway.breaker.definition AND headway.breaker.definition = $1::UUID FOR UPDATE OF breaker
