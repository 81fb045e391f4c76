-- $1 enabled
-- $2 ids
UPDATE headway.schedule SET enabled=$1::BOOLEAN WHERE headway.schedule.id = any($2::UUID[])
