-- $1 tenant
-- $2 source
-- $3 target
-- $4 after
-- $5 limit
SELECT headway.trigger.id, headway.trigger.tenant, headway.trigger.name, headway.trigger.description, headway.trigger.source, headway.trigger.target, headway.trigger.condition, headway.trigger.parameters, headway.trigger.enabled, headway.trigger.declared, headway.trigger.overridden, headway.trigger.version, headway.trigger.created_at, headway.trigger.updated_at, source.name AS source_name, target.name AS target_name
FROM headway.trigger JOIN headway.definition AS source ON source.id = headway.trigger.source JOIN headway.definition AS target ON target.id = headway.trigger.target
WHERE headway.trigger.tenant = $1::VARCHAR AND ($2::VARCHAR IS NULL OR source.name = $2::VARCHAR) AND ($3::VARCHAR IS NULL OR target.name = $3::VARCHAR) AND ($4::UUID IS NULL OR headway.trigger.id > $4::UUID) ORDER BY headway.trigger.id
 LIMIT $5::INTEGER
