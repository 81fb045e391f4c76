-- $1 now
-- $2 by
-- $3 reason
-- $4 ids
UPDATE headway.schedule SET paused_at=$1::TIMESTAMP WITH TIME ZONE, paused_by=$2::VARCHAR, paused_reason=$3::VARCHAR WHERE headway.schedule.id = any($4::UUID[])
