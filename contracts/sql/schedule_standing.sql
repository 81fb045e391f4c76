-- $1 ids
SELECT headway.schedule.id, headway.schedule.version, headway.schedule.decided_until, headway.schedule.chained_at, headway.schedule.updated_at, headway.schedule.enabled AND headway.definition.enabled AND headway.schedule.paused_at IS NULL AND headway.definition.paused_at IS NULL AS live
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.id = any($1::UUID[])
