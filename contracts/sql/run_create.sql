-- $1 now
-- $2 max_run
-- $3 id
-- $4 wanted
-- $5 owner
-- $6 tenant
-- $7 priority
-- $8 available_at
-- $9 created_by
-- $10 origin
-- $11 parent
-- $12 schedule
-- $13 slot_at
-- $14 token
-- $15 key
-- $16 correlation
-- $17 params
-- $18 owes
-- $19 cause
-- $20 depth
-- $21 attempt
-- $22 sealed
-- $23 batch_index
-- $24 counted
-- $25 has_input
-- $26 forced
INSERT INTO headway.run (id, state, tenant, definition, definition_id, definition_version, handler, queue, priority, available_at, created_at, created_by, origin, parent, schedule, slot_at, token, key, correlation, params, timeout, keep_days, restartable, gated, owes, cause, depth, attempt, batch_index, counted, start_by, must_start_by, has_input, forced) SELECT given.id, CASE WHEN (given.cause IS NOT NULL) THEN 0 WHEN (coalesce(given.available_at, $1::TIMESTAMP WITH TIME ZONE) > $1::TIMESTAMP WITH TIME ZONE OR headway.definition.gated OR headway.definition.paused_at IS NOT NULL OR headway.definition.tripped) THEN 1 ELSE 2 END AS anon_1, given.tenant, headway.definition.name, headway.definition.id AS id_1, headway.definition.version, headway.definition.handler, headway.definition.queue, coalesce(given.priority, headway.definition.priority) AS coalesce_1, coalesce(given.available_at, $1::TIMESTAMP WITH TIME ZONE) AS coalesce_2, $1::TIMESTAMP WITH TIME ZONE AS anon_2, given.created_by, given.origin, given.parent, given.schedule, given.slot_at, given.token, given.key, given.correlation, given.params, CASE WHEN (headway.definition.timeout = interval '0') THEN $2::INTERVAL ELSE headway.definition.timeout END AS anon_3, headway.definition.retention_days, headway.definition.restartable, headway.definition.gated OR headway.definition.paused_at IS NOT NULL OR headway.definition.tripped AS anon_4, given.owes, coalesce(given.cause, 0) AS coalesce_3, coalesce(given.depth, 0) AS coalesce_4, coalesce(given.attempt, 0) AS coalesce_5, given.batch_index, coalesce(given.counted, true) AS coalesce_6, CASE WHEN (given.cause IS DISTINCT FROM 5) THEN coalesce(given.available_at, $1::TIMESTAMP WITH TIME ZONE) + headway.definition.start_by END AS anon_5, CASE WHEN (given.cause IS DISTINCT FROM 5) THEN coalesce(given.available_at, $1::TIMESTAMP WITH TIME ZONE) + CAST(headway.definition.watch ->> 'must_start_by' AS DOUBLE PRECISION) * interval '1 second' END AS anon_6, given.has_input, coalesce(given.forced, false) AS coalesce_7
FROM unnest($3::UUID[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::SMALLINT[], $8::TIMESTAMP WITH TIME ZONE[], $9::TEXT[], $10::SMALLINT[], $11::UUID[], $12::UUID[], $13::TIMESTAMP WITH TIME ZONE[], $14::UUID[], $15::TEXT[], $16::TEXT[], $17::TEXT[], $18::SMALLINT[], $19::SMALLINT[], $20::SMALLINT[], $21::INTEGER[], $22::INTEGER[], $23::INTEGER[], $24::BOOLEAN[], $25::BOOLEAN[], $26::BOOLEAN[]) AS given(id, wanted, owner, tenant, priority, available_at, created_by, origin, parent, schedule, slot_at, token, key, correlation, params, owes, cause, depth, attempt, sealed, batch_index, counted, has_input, forced) JOIN headway.definition ON headway.definition.tenant = given.owner AND headway.definition.name = given.wanted
WHERE headway.definition.enabled AND (NOT headway.definition.secret OR headway.definition.version = given.sealed) RETURNING headway.run.id, headway.run.state, headway.run.queue, headway.run.priority, headway.run.gated
