-- $1 tenant
-- $2 of
-- $3 after
-- $4 limit
SELECT headway.schedule.id, headway.schedule.definition, headway.schedule.tenant, headway.schedule.name, headway.schedule.description, headway.schedule.owner, headway.schedule.rule, headway.schedule.misfire, headway.schedule.misfire_max_age, headway.schedule.misfire_limit, headway.schedule.overlap, headway.schedule.overlap_max, headway.schedule.calendars, headway.schedule.parameters, headway.schedule.payload, headway.schedule.allowed_delay, headway.schedule.retry_horizon, headway.schedule.completion_target, headway.schedule.enabled, headway.schedule.paused_at, headway.schedule.paused_by, headway.schedule.paused_reason, headway.schedule.source, headway.schedule.overridden, headway.schedule.broken, headway.schedule.version, headway.schedule.decided_until, headway.schedule.chained_at, headway.schedule.created_at, headway.schedule.updated_at, headway.definition.name AS definition_name, (SELECT jsonb_agg(jsonb_build_object('name', headway.calendar.name, 'version', headway.calendar.version, 'windows', CASE WHEN headway.calendar.shared THEN NULL ELSE headway.calendar.windows END) ORDER BY array_position(headway.schedule.calendars, headway.calendar.id)) AS jsonb_agg_1
FROM headway.calendar
WHERE headway.calendar.id = any(headway.schedule.calendars)) AS used
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.tenant = $1::VARCHAR AND ($2::VARCHAR IS NULL OR headway.definition.name = $2::VARCHAR) AND ($3::UUID IS NULL OR headway.schedule.id > $3::UUID) ORDER BY headway.schedule.id
 LIMIT $4::INTEGER
