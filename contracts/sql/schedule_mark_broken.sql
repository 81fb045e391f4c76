-- $1 why
-- $2 schedule
UPDATE headway.schedule SET broken=$1::VARCHAR, updated_at=headway.headway_now() WHERE headway.schedule.id = $2::UUID AND headway.schedule.broken IS DISTINCT FROM $1::VARCHAR
