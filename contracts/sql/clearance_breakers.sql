-- $1 definitions
SELECT headway.breaker.definition, headway.breaker.state, headway.breaker.since, headway.breaker.failures, headway.breaker.opened_at, headway.breaker.reopen_at, headway.definition.name
FROM headway.breaker JOIN headway.definition ON headway.definition.id = headway.breaker.definition
WHERE headway.breaker.definition = any($1::UUID[])
