-- $1 id
-- $2 tenant
-- $3 name
-- $4 description
-- $5 windows
-- $6 resolved
-- $7 shared
-- $8 now
INSERT INTO headway.calendar (id, tenant, name, description, windows, resolved, shared, created_at, updated_at) VALUES ($1::UUID, $2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::JSONB, $6::JSONB, $7::BOOLEAN, $8::TIMESTAMP WITH TIME ZONE, $8::TIMESTAMP WITH TIME ZONE) ON CONFLICT (tenant, name) DO UPDATE SET name = excluded.name RETURNING headway.calendar.id
