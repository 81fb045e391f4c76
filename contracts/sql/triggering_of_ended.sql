-- $1 of
SELECT headway.trigger.id, headway.trigger.tenant, headway.trigger.name, headway.trigger.condition, headway.trigger.parameters, target.name AS target, target.parameters AS defaults, target.parameter_spec AS spec
FROM headway.trigger JOIN headway.definition AS source ON source.id = headway.trigger.source JOIN headway.definition AS target ON target.id = headway.trigger.target
WHERE headway.trigger.source = $1::UUID AND headway.trigger.enabled AND source.enabled AND source.allow_triggers ORDER BY headway.trigger.id
