-- $1 tenant
-- $2 definition
-- $3 key
SELECT headway.idempotency_key.run, headway.idempotency_key.request_hash
FROM headway.idempotency_key
WHERE headway.idempotency_key.tenant = $1::VARCHAR AND headway.idempotency_key.definition = $2::VARCHAR AND headway.idempotency_key.key = $3::VARCHAR
