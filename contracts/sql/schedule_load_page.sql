-- $1 after
-- $2 limit
SELECT headway.schedule.id, headway.schedule.tenant, headway.schedule.name, headway.schedule.rule, headway.schedule.overlap, headway.schedule.misfire, headway.schedule.version, headway.schedule.misfire_max_age, headway.schedule.misfire_limit, headway.schedule.overlap_max, headway.schedule.allowed_delay, headway.schedule.decided_until, headway.schedule.chained_at, headway.schedule.updated_at, coalesce(headway.schedule.calendars, headway.definition.calendars) AS calendars, headway.definition.id AS definition_id, headway.definition.name AS definition, headway.definition.tenant AS definition_tenant, headway.schedule.enabled AND headway.definition.enabled AND headway.schedule.paused_at IS NULL AND headway.definition.paused_at IS NULL AS live
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.enabled AND headway.definition.enabled AND headway.schedule.paused_at IS NULL AND headway.definition.paused_at IS NULL AND headway.schedule.id > $1::UUID ORDER BY headway.schedule.id
 LIMIT $2::INTEGER
