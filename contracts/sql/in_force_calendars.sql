-- $1 ids
SELECT headway.calendar_version.calendar, headway.calendar_version.version, headway.calendar_version.name, headway.calendar_version.windows, headway.calendar_version.resolved
FROM headway.calendar_version
WHERE headway.calendar_version.calendar = any($1::UUID[])
