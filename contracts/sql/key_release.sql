-- $1 ids
DELETE FROM headway.idempotency_key WHERE headway.idempotency_key.run = any($1::UUID[])
