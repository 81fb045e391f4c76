-- $1 tenant
-- $2 after
-- $3 definition
-- $4 limit
SELECT headway.restriction.id, headway.restriction.tenant, headway.restriction.first, headway.restriction.second, headway.restriction.description, headway.restriction.created_at, headway.restriction.created_by, one.name AS first_name, two.name AS second_name
FROM headway.restriction JOIN headway.definition AS one ON one.id = headway.restriction.first JOIN headway.definition AS two ON two.id = headway.restriction.second
WHERE headway.restriction.tenant = $1::VARCHAR AND ($2::UUID IS NULL OR headway.restriction.id > $2::UUID) AND ($3::VARCHAR IS NULL OR one.name = $3::VARCHAR OR two.name = $3::VARCHAR) ORDER BY headway.restriction.id
 LIMIT $4::INTEGER
