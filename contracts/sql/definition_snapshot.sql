-- $1 of
-- $2 number
-- $3 snapshot
-- $4 actor
INSERT INTO headway.definition_version (definition, version, snapshot, created_at, created_by) VALUES ($1::UUID, $2::INTEGER, $3::JSONB, headway.headway_now(), $4::VARCHAR)
