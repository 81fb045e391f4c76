-- $1 run
-- $2 original
UPDATE headway.idempotency_key SET run=$1::UUID WHERE headway.idempotency_key.run = $2::UUID
