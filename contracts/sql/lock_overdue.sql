-- $1 grace
-- $2 limit
SELECT headway.run.id, headway.run.state, headway.run.attempt, headway.run.failures, headway.run.crashes, headway.run.created_at, headway.run.slot_at, headway.run.restartable, headway.run.cancel_requested_at, headway.run.cancel_by, headway.run.reason, headway.run.session, headway.run.started_at, coalesce(headway.definition.attempts, 1) AS attempts, headway.definition.backoff, headway.definition.retry_horizon
FROM headway.run LEFT OUTER JOIN headway.definition ON headway.definition.id = headway.run.definition_id
WHERE headway.run.state = 3 AND headway.run.deadline_at < headway.headway_now() - $1::INTERVAL ORDER BY headway.run.id
 LIMIT $2::INTEGER FOR UPDATE OF run
