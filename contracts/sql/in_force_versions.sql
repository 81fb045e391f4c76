-- $1 of
SELECT headway.schedule_version.version, headway.schedule_version.from_at, headway.schedule_version.rule, headway.schedule_version.calendars, headway.schedule_version.ended, headway.schedule_version.tenant
FROM headway.schedule_version
WHERE headway.schedule_version.schedule = $1::UUID ORDER BY headway.schedule_version.version
