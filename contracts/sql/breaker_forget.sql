-- $1 definition
DELETE FROM headway.breaker WHERE headway.breaker.definition = $1::UUID
