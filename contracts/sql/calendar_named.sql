-- $1 names
-- $2 tenant
SELECT headway.calendar.id, headway.calendar.name
FROM headway.calendar
WHERE headway.calendar.name = any($1::TEXT[]) AND (headway.calendar.tenant = $2::VARCHAR OR headway.calendar.tenant = '')
