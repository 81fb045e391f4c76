-- $1 tenant
-- $2 definition
-- $3 key
-- $4 request_hash
-- $5 run
-- $6 keep
INSERT INTO headway.idempotency_key (tenant, definition, key, request_hash, run, expires_at) VALUES ($1::VARCHAR, $2::VARCHAR, $3::VARCHAR, $4::BYTEA, $5::UUID, (headway.headway_now() + $6::INTERVAL)) ON CONFLICT DO NOTHING RETURNING headway.idempotency_key.run
