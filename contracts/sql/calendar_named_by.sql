-- $1 ids
-- $2 limit
SELECT 'definition ' || headway.definition.name AS who
FROM headway.definition
WHERE headway.definition.calendars && $1::UUID[] UNION ALL SELECT 'schedule ' || headway.definition.name || '/' || headway.schedule.name AS who
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.calendars && $1::UUID[] ORDER BY who
 LIMIT $2::INTEGER
