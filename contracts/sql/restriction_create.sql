-- $1 id
-- $2 tenant
-- $3 first
-- $4 second
-- $5 description
-- $6 actor
INSERT INTO headway.restriction (id, tenant, first, second, description, created_at, created_by) VALUES ($1::UUID, $2::VARCHAR, $3::UUID, $4::UUID, $5::VARCHAR, headway.headway_now(), $6::VARCHAR)
