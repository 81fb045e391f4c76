-- $1 calendar
SELECT headway.calendar.id, headway.calendar.tenant, headway.calendar.name, headway.calendar.description, headway.calendar.windows, headway.calendar.resolved, headway.calendar.shared, headway.calendar.version, headway.calendar.created_at, headway.calendar.updated_at
FROM headway.calendar
WHERE headway.calendar.id = $1::UUID FOR UPDATE
