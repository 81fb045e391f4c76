-- $1 parameters
-- $2 id
UPDATE headway.trigger SET parameters=$1::JSONB WHERE headway.trigger.id = $2::UUID
