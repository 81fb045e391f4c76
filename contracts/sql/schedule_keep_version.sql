-- $1 actor
-- $2 ids
INSERT INTO headway.schedule_version (schedule, version, from_at, definition, tenant, name, rule, calendars, created_by) SELECT headway.schedule.id, headway.schedule.version, headway.schedule.decided_until, headway.schedule.definition, headway.schedule.tenant, headway.schedule.name, headway.schedule.rule, (SELECT coalesce(jsonb_agg(jsonb_build_object('calendar', headway.calendar.id, 'version', headway.calendar.version)), CAST('[]' AS JSONB)) AS coalesce_1
FROM headway.calendar
WHERE headway.calendar.id = any(coalesce(headway.schedule.calendars, headway.definition.calendars))) AS anon_1, $1::VARCHAR AS anon_2
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.id = any($2::UUID[])
