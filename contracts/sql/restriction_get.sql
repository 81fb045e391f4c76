-- $1 id
-- $2 tenant
SELECT headway.restriction.id, headway.restriction.tenant, headway.restriction.first, headway.restriction.second, headway.restriction.description, headway.restriction.created_at, headway.restriction.created_by, one.name AS first_name, two.name AS second_name
FROM headway.restriction JOIN headway.definition AS one ON one.id = headway.restriction.first JOIN headway.definition AS two ON two.id = headway.restriction.second
WHERE headway.restriction.id = $1::UUID AND headway.restriction.tenant = $2::VARCHAR
