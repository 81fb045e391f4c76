-- $1 id
DELETE FROM headway.restriction WHERE headway.restriction.id = $1::UUID
