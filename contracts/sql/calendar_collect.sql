-- $1 ids
DELETE FROM headway.calendar WHERE headway.calendar.id = any($1::UUID[]) AND NOT headway.calendar.shared AND (headway.calendar.id NOT IN (SELECT unnest(headway.definition.calendars) AS unnest_1
FROM headway.definition)) AND (headway.calendar.id NOT IN (SELECT unnest(headway.schedule.calendars) AS unnest_2
FROM headway.schedule)) RETURNING headway.calendar.name, headway.calendar.tenant
