DELETE FROM headway.idempotency_key WHERE headway.idempotency_key.expires_at <= headway.headway_now() AND NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.idempotency_key.run))
