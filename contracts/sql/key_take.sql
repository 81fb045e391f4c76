-- $1 tenant
-- $2 definition
-- $3 key
-- $4 run
-- $5 request_hash
-- $6 keep
INSERT INTO headway.idempotency_key (tenant, definition, key, request_hash, run, expires_at) SELECT c.tenant, c.definition, c.key, c.request_hash, c.run, headway.headway_now() + c.keep AS anon_1
FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[], $4::UUID[], $5::BYTEA[], $6::INTERVAL[]) AS c(tenant, definition, key, run, request_hash, keep) ORDER BY c.tenant, c.definition, c.key, c.run ON CONFLICT DO NOTHING
