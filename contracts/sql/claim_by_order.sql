-- $1 session
-- $2 queue
-- $3 handlers
-- $4 limit
WITH me AS MATERIALIZED
(SELECT headway.headway_now() AS now
FROM headway.session
WHERE headway.session.id = $1::UUID AND headway.session.state = 1 AND headway.session.lease_until > headway.headway_now() FOR KEY SHARE),
head AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.queue = $2::VARCHAR AND headway.run.state = 2 AND headway.run.cancel_requested_at IS NULL AND headway.run.handler = any($3::TEXT[]) AND (SELECT me.now
FROM me) IS NOT NULL AND (headway.run.start_by IS NULL OR headway.run.attempt > 0 OR headway.run.start_by > (SELECT me.now
FROM me)) ORDER BY -headway.run.priority, headway.run.available_at, headway.run.id
 LIMIT $4::INTEGER FOR UPDATE SKIP LOCKED)
 UPDATE headway.run SET state=3, attempt=(headway.run.attempt + 1), session=$1::UUID, started_at=(SELECT me.now
FROM me), deadline_at=((SELECT me.now
FROM me) + headway.run.timeout) FROM head WHERE headway.run.id = head.id RETURNING headway.run.id, headway.run.attempt, headway.run.handler, headway.run.definition, headway.run.definition_id, headway.run.tenant, headway.run.queue, headway.run.priority, headway.run.params, headway.run.token, headway.run.schedule, headway.run.slot_at, headway.run.available_at, headway.run.started_at, headway.run.deadline_at, headway.run.failures, headway.run.gated, headway.run.owes, headway.run.correlation, headway.run.has_input, headway.run.parent, headway.run.batch_index, NULL AS payload, NULL AS traceparent, NULL AS batch_total
