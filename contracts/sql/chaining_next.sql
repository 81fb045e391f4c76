-- $1 at
-- $2 now
-- $3 schedule
UPDATE headway.schedule SET chained_at=$1::TIMESTAMP WITH TIME ZONE, updated_at=$2::TIMESTAMP WITH TIME ZONE WHERE headway.schedule.id = $3::UUID AND headway.schedule.chained_at IS NULL
