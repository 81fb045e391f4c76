-- $1 now
-- $2 actor
-- $3 calendar
INSERT INTO headway.calendar_version (calendar, version, name, windows, resolved, created_at, created_by) SELECT headway.calendar.id, headway.calendar.version, headway.calendar.name, headway.calendar.windows, headway.calendar.resolved, $1::TIMESTAMP WITH TIME ZONE AS anon_1, $2::VARCHAR AS anon_2
FROM headway.calendar
WHERE headway.calendar.id = $3::UUID ON CONFLICT DO NOTHING
