-- $1 ids
-- $2 attempts
-- $3 states
-- $4 outcomes
-- $5 failures
-- $6 crashes
-- $7 reasons
-- $8 results
-- $9 errors
WITH gone AS
(DELETE FROM headway.run USING unnest($1::UUID[], $2::INTEGER[], $3::SMALLINT[], $4::SMALLINT[], $5::SMALLINT[], $6::SMALLINT[], $7::TEXT[], $8::TEXT[], $9::JSONB[]) AS o(ids, attempts, states, outcomes, failures, crashes, reasons, results, errors) WHERE headway.run.id = o.ids AND headway.run.attempt = o.attempts AND headway.run.state < 3 RETURNING headway.run.id, headway.run.gated, headway.run.keep_days, o.states AS state, headway.run.tenant AS tenant, headway.run.definition AS definition, headway.run.definition_id AS definition_id, headway.run.definition_version AS definition_version, headway.run.handler AS handler, headway.run.queue AS queue, headway.run.priority AS priority, headway.run.available_at AS available_at, headway.run.created_at AS created_at, headway.run.created_by AS created_by, headway.run.origin AS origin, headway.run.parent AS parent, headway.run.schedule AS schedule, headway.run.slot_at AS slot_at, headway.run.token AS token, headway.run.key AS key, headway.run.correlation AS correlation, headway.run.params AS params, headway.run.attempt AS attempt, coalesce(o.failures, headway.run.failures) AS failures, coalesce(o.crashes, headway.run.crashes) AS crashes, headway.run.owes AS owes, headway.run.depth AS depth, headway.run.batch_index AS batch_index, headway.run.session AS session, headway.run.started_at AS started_at, CASE WHEN (headway.run.cancel_requested_at IS NOT NULL AND o.states = 4) THEN 'finished before cancel' ELSE coalesce(o.reasons, headway.run.reason) END AS reason, headway.run.cancel_requested_at AS cancel_requested_at, headway.run.cancel_by AS cancel_by, o.outcomes AS outcome, o.results AS result, o.errors AS error),
kept AS
(INSERT INTO headway.run_done (id, drop_on, finished_at, state, tenant, definition, definition_id, definition_version, handler, queue, priority, available_at, created_at, created_by, origin, parent, schedule, slot_at, token, key, correlation, params, attempt, failures, crashes, owes, depth, batch_index, session, started_at, reason, cancel_requested_at, cancel_by, outcome, result, error) SELECT gone.id AS id, CASE WHEN (gone.keep_days = 0) THEN 'infinity'::date ELSE CAST(headway.headway_now() AS DATE) + gone.keep_days END AS anon_1, headway.headway_now() AS headway_now_1, gone.state AS state, gone.tenant AS tenant, gone.definition AS definition, gone.definition_id AS definition_id, gone.definition_version AS definition_version, gone.handler AS handler, gone.queue AS queue, gone.priority AS priority, gone.available_at AS available_at, gone.created_at AS created_at, gone.created_by AS created_by, gone.origin AS origin, gone.parent AS parent, gone.schedule AS schedule, gone.slot_at AS slot_at, gone.token AS token, gone.key AS key, gone.correlation AS correlation, gone.params AS params, gone.attempt AS attempt, gone.failures AS failures, gone.crashes AS crashes, gone.owes AS owes, gone.depth AS depth, gone.batch_index AS batch_index, gone.session AS session, gone.started_at AS started_at, gone.reason AS reason, gone.cancel_requested_at AS cancel_requested_at, gone.cancel_by AS cancel_by, gone.outcome AS outcome, gone.result AS result, gone.error AS error
FROM gone),
known AS
(SELECT headway.definition.id AS id, (headway.definition.owes | CASE WHEN (EXISTS (SELECT *
FROM headway.breaker
WHERE headway.breaker.definition = headway.definition.id)) THEN 4 ELSE 0 END) | CASE WHEN (CAST(headway.definition.watch ->> 'expected_duration' AS DOUBLE PRECISION) * interval '1 second' IS NOT NULL OR CAST(headway.definition.watch ->> 'must_start_by' AS DOUBLE PRECISION) * interval '1 second' IS NOT NULL) THEN 16 ELSE 0 END AS owes
FROM headway.definition
WHERE headway.definition.id = any(array((SELECT DISTINCT gone.definition_id
FROM gone)))),
ended AS
(SELECT gone.id AS id, gone.state AS state, gone.definition AS definition, gone.definition_id AS definition_id, gone.schedule AS schedule, gone.queue AS queue, gone.priority AS priority, (gone.owes & 63) | coalesce(CASE WHEN ((gone.owes & 256) != 0) THEN known.owes & 62 ELSE known.owes END, 0) AS owes, gone.gated AS gated, gone.attempt AS attempt, gone.available_at AS available_at, gone.started_at AS started_at, gone.parent AS parent
FROM gone LEFT OUTER JOIN known ON known.id = gone.definition_id),
owed AS
(INSERT INTO headway.reaction (run, kind, next_look_at, batch) SELECT ended.id AS id, bits.bit AS bit, headway.headway_now() AS headway_now_2, CASE WHEN (bits.bit = 1) THEN ended.parent END AS anon_2
FROM ended, generate_series(0, 5) AS bits(bit)
WHERE ended.owes != 0 AND (ended.owes & (1 << bits.bit)) != 0 ON CONFLICT (run, kind) DO UPDATE SET tries = 0, next_look_at = excluded.next_look_at, parked = false)
 SELECT ended.id, ended.state, ended.definition, ended.definition_id, ended.schedule, ended.queue, ended.priority, ended.owes, ended.gated, ended.attempt, ended.available_at, ended.started_at, ended.parent, headway.headway_now() AS at
FROM ended
