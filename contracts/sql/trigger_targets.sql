-- $1 tenant
-- $2 names
SELECT headway.definition.id, headway.definition.name
FROM headway.definition
WHERE headway.definition.tenant = $1::VARCHAR AND headway.definition.name = any($2::TEXT[]) ORDER BY headway.definition.id FOR KEY SHARE
