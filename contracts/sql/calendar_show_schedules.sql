-- $1 now
-- $2 ids
UPDATE headway.schedule SET updated_at=$1::TIMESTAMP WITH TIME ZONE WHERE headway.schedule.id = any($2::UUID[])
