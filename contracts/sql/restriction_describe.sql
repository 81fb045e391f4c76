-- $1 description
-- $2 id
UPDATE headway.restriction SET description=$1::VARCHAR WHERE headway.restriction.id = $2::UUID
