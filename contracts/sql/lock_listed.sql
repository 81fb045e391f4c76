-- $1 ids
SELECT headway.run.id, headway.run.state, headway.run.attempt, headway.run.failures, headway.run.crashes, headway.run.created_at, headway.run.slot_at, headway.run.restartable, headway.run.cancel_requested_at, headway.run.cancel_by, headway.run.reason, headway.run.session, headway.run.started_at, coalesce(headway.definition.attempts, 1) AS attempts, headway.definition.backoff, headway.definition.retry_horizon
FROM headway.run LEFT OUTER JOIN headway.definition ON headway.definition.id = headway.run.definition_id
WHERE headway.run.id = any($1::UUID[]) ORDER BY headway.run.id FOR UPDATE OF run
