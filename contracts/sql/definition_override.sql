-- $1 names
-- $2 definition
UPDATE headway.definition SET overridden=$1::TEXT[] WHERE headway.definition.id = $2::UUID
