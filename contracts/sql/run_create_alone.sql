-- $1 id
-- $2 cause
-- $3 available_at
-- $4 tenant
-- $5 priority
-- $6 created_by
-- $7 origin
-- $8 parent
-- $9 schedule
-- $10 slot_at
-- $11 token
-- $12 key
-- $13 correlation
-- $14 params
-- $15 max_run
-- $16 owes
-- $17 depth
-- $18 attempt
-- $19 batch_index
-- $20 counted
-- $21 has_input
-- $22 forced
-- $23 sealed
-- $24 owner
-- $25 wanted
INSERT INTO headway.run (id, state, tenant, definition, definition_id, definition_version, handler, queue, priority, available_at, created_at, created_by, origin, parent, schedule, slot_at, token, key, correlation, params, timeout, keep_days, restartable, gated, owes, cause, depth, attempt, batch_index, counted, start_by, must_start_by, has_input, forced) SELECT $1::UUID AS anon_1, CASE WHEN ($2::SMALLINT IS NOT NULL) THEN 0 WHEN (coalesce($3::TIMESTAMP WITH TIME ZONE, clock.at) > clock.at OR headway.definition.gated OR headway.definition.paused_at IS NOT NULL OR headway.definition.tripped) THEN 1 ELSE 2 END AS anon_2, $4::VARCHAR AS anon_3, headway.definition.name, headway.definition.id, headway.definition.version, headway.definition.handler, headway.definition.queue, coalesce($5::SMALLINT, headway.definition.priority) AS coalesce_1, coalesce($3::TIMESTAMP WITH TIME ZONE, clock.at) AS coalesce_2, clock.at, $6::VARCHAR AS anon_4, $7::SMALLINT AS anon_5, $8::UUID AS anon_6, $9::UUID AS anon_7, $10::TIMESTAMP WITH TIME ZONE AS anon_8, $11::UUID AS anon_9, $12::VARCHAR AS anon_10, $13::VARCHAR AS anon_11, $14::VARCHAR AS anon_12, CASE WHEN (headway.definition.timeout = interval '0') THEN $15::INTERVAL ELSE headway.definition.timeout END AS anon_13, headway.definition.retention_days, headway.definition.restartable, headway.definition.gated OR headway.definition.paused_at IS NOT NULL OR headway.definition.tripped AS anon_14, $16::SMALLINT AS anon_15, coalesce($2::SMALLINT, 0) AS coalesce_3, coalesce($17::SMALLINT, 0) AS coalesce_4, coalesce($18::INTEGER, 0) AS coalesce_5, $19::INTEGER AS anon_16, coalesce($20::BOOLEAN, true) AS coalesce_6, CASE WHEN ($2::SMALLINT IS DISTINCT FROM 5) THEN coalesce($3::TIMESTAMP WITH TIME ZONE, clock.at) + headway.definition.start_by END AS anon_17, CASE WHEN ($2::SMALLINT IS DISTINCT FROM 5) THEN coalesce($3::TIMESTAMP WITH TIME ZONE, clock.at) + CAST(headway.definition.watch ->> 'must_start_by' AS DOUBLE PRECISION) * interval '1 second' END AS anon_18, $21::BOOLEAN AS anon_19, coalesce($22::BOOLEAN, false) AS coalesce_7
FROM headway.definition JOIN (SELECT headway.headway_now() AS at) AS clock ON true
WHERE headway.definition.enabled AND (NOT headway.definition.secret OR headway.definition.version = $23::INTEGER) AND NOT (headway.definition.gated OR headway.definition.paused_at IS NOT NULL OR headway.definition.tripped) AND headway.definition.tenant = $24::VARCHAR AND headway.definition.name = $25::VARCHAR RETURNING headway.run.id, headway.run.state, headway.run.queue, headway.run.priority, headway.run.gated
