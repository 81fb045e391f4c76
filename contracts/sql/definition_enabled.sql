-- $1 tenant
-- $2 name
SELECT headway.definition.enabled
FROM headway.definition
WHERE headway.definition.tenant = $1::VARCHAR AND headway.definition.name = $2::VARCHAR
