-- $1 tenant
-- $2 after
-- $3 limit
SELECT headway.calendar.id, headway.calendar.tenant, headway.calendar.name, headway.calendar.description, headway.calendar.windows, headway.calendar.resolved, headway.calendar.shared, headway.calendar.version, headway.calendar.created_at, headway.calendar.updated_at
FROM headway.calendar
WHERE headway.calendar.tenant = $1::VARCHAR AND headway.calendar.shared AND ($2::VARCHAR IS NULL OR headway.calendar.name > $2::VARCHAR) ORDER BY headway.calendar.name
 LIMIT $3::INTEGER
