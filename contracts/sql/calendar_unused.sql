-- $1 limit
SELECT headway.calendar.id
FROM headway.calendar
WHERE NOT headway.calendar.shared AND (headway.calendar.id NOT IN (SELECT unnest(headway.definition.calendars) AS unnest_1
FROM headway.definition)) AND (headway.calendar.id NOT IN (SELECT unnest(headway.schedule.calendars) AS unnest_2
FROM headway.schedule)) ORDER BY headway.calendar.id
 LIMIT $1::INTEGER FOR UPDATE SKIP LOCKED
