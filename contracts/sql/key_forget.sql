-- $1 tenant
-- $2 definition
-- $3 key
DELETE FROM headway.idempotency_key WHERE headway.idempotency_key.tenant = $1::VARCHAR AND headway.idempotency_key.definition = $2::VARCHAR AND headway.idempotency_key.key = $3::VARCHAR AND headway.idempotency_key.expires_at <= headway.headway_now() AND NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.idempotency_key.run))
