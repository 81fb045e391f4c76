-- $1 of
SELECT headway.schedule.id, headway.schedule.definition, headway.schedule.tenant, headway.schedule.name, headway.schedule.description, headway.schedule.owner, headway.schedule.rule, headway.schedule.misfire, headway.schedule.overlap, headway.schedule.parameters, headway.schedule.allowed_delay, headway.schedule.retry_horizon, headway.schedule.completion_target, headway.schedule.enabled, headway.schedule.paused_at, headway.schedule.paused_by, headway.schedule.paused_reason, headway.schedule.source, headway.schedule.overridden, headway.schedule.broken, headway.schedule.version, headway.schedule.decided_until, headway.schedule.created_at, headway.schedule.updated_at
FROM headway.schedule
WHERE headway.schedule.definition = $1::UUID ORDER BY headway.schedule.name
