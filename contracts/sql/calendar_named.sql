-- $1 names
-- $2 tenant
SELECT headway.calendar.id, headway.calendar.name, headway.calendar.tenant
FROM headway.calendar
WHERE headway.calendar.name = any($1::TEXT[]) AND (headway.calendar.tenant = $2::VARCHAR OR headway.calendar.tenant = '') ORDER BY headway.calendar.tenant, headway.calendar.id FOR SHARE
