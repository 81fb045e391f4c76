-- $1 now
-- $2 ids
UPDATE headway.schedule SET version=(headway.schedule.version + 1), decided_until=greatest(headway.schedule.decided_until, $1::TIMESTAMP WITH TIME ZONE), updated_at=$1::TIMESTAMP WITH TIME ZONE WHERE headway.schedule.id = any($2::UUID[])
