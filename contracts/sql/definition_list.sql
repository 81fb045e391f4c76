-- $1 tenant
-- $2 after
-- $3 source
-- $4 limit
SELECT headway.definition.id, headway.definition.tenant, headway.definition.name, headway.definition.description, headway.definition.owner, headway.definition.handler, headway.definition.queue, headway.definition.priority, headway.definition.timeout, headway.definition.attempts, headway.definition.backoff, headway.definition.retry_horizon, headway.definition.parameters, headway.definition.parameter_spec, headway.definition.restartable, headway.definition.allow_triggers, headway.definition.max_concurrent_runs, headway.definition.max_runs_per_hour, headway.definition.over_limit, headway.definition.gated, headway.definition.tripped, headway.definition.secret, headway.definition.owes, headway.definition.start_by, headway.definition.retention_days, headway.definition.overlap, headway.definition.watch, headway.definition.calendars, headway.definition.enabled, headway.definition.paused_at, headway.definition.paused_by, headway.definition.paused_reason, headway.definition.paused_until, headway.definition.source, headway.definition.overridden, headway.definition.version, headway.definition.created_at, headway.definition.updated_at, (SELECT jsonb_agg(jsonb_build_object('name', headway.calendar.name, 'version', headway.calendar.version, 'windows', CASE WHEN headway.calendar.shared THEN NULL ELSE headway.calendar.windows END) ORDER BY array_position(headway.definition.calendars, headway.calendar.id)) AS jsonb_agg_1
FROM headway.calendar
WHERE headway.calendar.id = any(headway.definition.calendars)) AS used, (SELECT coalesce(array_agg(other.name ORDER BY other.name), '{}'::text[]) AS coalesce_1
FROM headway.restriction JOIN headway.definition AS other ON other.id = CASE WHEN (headway.restriction.first = headway.definition.id) THEN headway.restriction.second ELSE headway.restriction.first END
WHERE headway.restriction.first = headway.definition.id OR headway.restriction.second = headway.definition.id) AS restrictions
FROM headway.definition
WHERE headway.definition.tenant = $1::VARCHAR AND ($2::VARCHAR IS NULL OR headway.definition.name > $2::VARCHAR) AND ($3::VARCHAR IS NULL OR headway.definition.source = $3::VARCHAR) ORDER BY headway.definition.name
 LIMIT $4::INTEGER
