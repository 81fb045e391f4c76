-- $1 nobody
-- $2 of
UPDATE headway.definition SET paused_at=NULL, paused_by=$1::VARCHAR, paused_reason=$1::VARCHAR, paused_until=NULL WHERE headway.definition.id = $2::UUID
