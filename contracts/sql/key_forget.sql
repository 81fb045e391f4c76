-- $1 tenant
-- $2 definition
-- $3 key
-- $4 run
-- $5 request_hash
-- $6 keep
DELETE FROM headway.idempotency_key USING unnest($1::TEXT[], $2::TEXT[], $3::TEXT[], $4::UUID[], $5::BYTEA[], $6::INTERVAL[]) AS c(tenant, definition, key, run, request_hash, keep) WHERE headway.idempotency_key.tenant = c.tenant AND headway.idempotency_key.definition = c.definition AND headway.idempotency_key.key = c.key AND headway.idempotency_key.expires_at <= headway.headway_now() AND NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.idempotency_key.run))
