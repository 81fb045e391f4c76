-- $1 ids
DELETE FROM headway.schedule WHERE headway.schedule.id = any($1::UUID[])
