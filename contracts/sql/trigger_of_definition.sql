-- $1 of
SELECT headway.trigger.id, headway.trigger.tenant, headway.trigger.name, headway.trigger.description, headway.trigger.source, headway.trigger.target, headway.trigger.condition, headway.trigger.parameters, headway.trigger.enabled, headway.trigger.declared, headway.trigger.overridden, headway.trigger.version, headway.trigger.created_at, headway.trigger.updated_at, source.name AS source_name, target.name AS target_name
FROM headway.trigger JOIN headway.definition AS source ON source.id = headway.trigger.source JOIN headway.definition AS target ON target.id = headway.trigger.target
WHERE headway.trigger.source = $1::UUID ORDER BY headway.trigger.name
