-- $1 tenant
-- $2 name
DELETE FROM headway.definition WHERE headway.definition.tenant = $1::VARCHAR AND headway.definition.name = $2::VARCHAR RETURNING headway.definition.id
