SELECT count(*) AS count_1
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.enabled AND headway.definition.enabled AND headway.schedule.paused_at IS NULL AND headway.definition.paused_at IS NULL
