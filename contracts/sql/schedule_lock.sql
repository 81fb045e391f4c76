-- $1 ids
SELECT headway.schedule.id
FROM headway.schedule
WHERE headway.schedule.id = any($1::UUID[]) ORDER BY headway.schedule.id FOR UPDATE
