-- $1 ids
DELETE FROM headway.trigger WHERE headway.trigger.id = any($1::UUID[])
