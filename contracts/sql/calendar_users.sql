-- $1 ids
SELECT headway.schedule.id, headway.definition.name, headway.definition.tenant, headway.definition.version
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE coalesce(headway.schedule.calendars, headway.definition.calendars) && $1::UUID[] ORDER BY headway.schedule.id
