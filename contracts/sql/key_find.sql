-- $1 tenant
-- $2 definition
-- $3 key
-- $4 run
-- $5 request_hash
-- $6 keep
SELECT c.run AS asked, headway.idempotency_key.run, headway.idempotency_key.request_hash
FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[], $4::UUID[], $5::BYTEA[], $6::INTERVAL[]) AS c(tenant, definition, key, run, request_hash, keep) JOIN headway.idempotency_key ON headway.idempotency_key.tenant = c.tenant AND headway.idempotency_key.definition = c.definition AND headway.idempotency_key.key = c.key
