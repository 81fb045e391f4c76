-- $1 ids
SELECT headway.definition.id, headway.definition.parameter_spec
FROM headway.definition
WHERE headway.definition.id = any($1::UUID[]) AND headway.definition.secret
