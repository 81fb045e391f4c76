-- $1 nobody
-- $2 ids
UPDATE headway.schedule SET paused_at=NULL, paused_by=$1::VARCHAR, paused_reason=$1::VARCHAR WHERE headway.schedule.id = any($2::UUID[])
