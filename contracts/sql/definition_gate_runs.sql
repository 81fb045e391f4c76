-- $1 gate
-- $2 of
UPDATE headway.run SET gated=$1::BOOLEAN WHERE headway.run.definition_id = $2::UUID AND headway.run.gated IS DISTINCT FROM $1::BOOLEAN
