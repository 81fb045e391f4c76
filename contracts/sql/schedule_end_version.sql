-- $1 actor
-- $2 ids
INSERT INTO headway.schedule_version (schedule, version, from_at, definition, tenant, name, rule, calendars, created_by, ended) SELECT headway.schedule.id, headway.schedule.version + 1 AS anon_1, headway.schedule.decided_until, headway.schedule.definition, headway.schedule.tenant, headway.schedule.name, headway.schedule.rule, CAST('[]' AS JSONB) AS "'[]'", $1::VARCHAR AS anon_2, true AS anon_3
FROM headway.schedule
WHERE headway.schedule.id = any($2::UUID[])
