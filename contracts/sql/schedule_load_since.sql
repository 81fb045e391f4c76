-- $1 since
SELECT headway.schedule.id, headway.schedule.tenant, headway.schedule.name, headway.schedule.rule, headway.schedule.overlap, headway.schedule.misfire, headway.schedule.version, headway.schedule.decided_until, headway.definition.id AS definition_id, headway.definition.name AS definition, headway.definition.tenant AS definition_tenant, headway.schedule.enabled AND headway.definition.enabled AND headway.schedule.paused_at IS NULL AND headway.definition.paused_at IS NULL AS live
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.updated_at >= $1::TIMESTAMP WITH TIME ZONE OR headway.definition.updated_at >= $1::TIMESTAMP WITH TIME ZONE
