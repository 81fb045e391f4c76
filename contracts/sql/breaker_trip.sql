-- $1 tripped
-- $2 definition
UPDATE headway.definition SET tripped=$1::BOOLEAN WHERE headway.definition.id = $2::UUID
