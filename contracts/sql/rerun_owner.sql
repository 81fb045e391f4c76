-- $1 definition
SELECT headway.definition.tenant
FROM headway.definition
WHERE headway.definition.id = $1::UUID
