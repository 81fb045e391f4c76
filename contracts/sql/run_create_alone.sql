-- $1 id
-- $2 available_at
-- $3 tenant
-- $4 priority
-- $5 created_by
-- $6 origin
-- $7 parent
-- $8 schedule
-- $9 slot_at
-- $10 token
-- $11 key
-- $12 correlation
-- $13 params
-- $14 max_run
-- $15 owes
-- $16 attempt
-- $17 has_input
-- $18 sealed
-- $19 owner
-- $20 wanted
INSERT INTO headway.run (id, state, tenant, definition, definition_id, definition_version, handler, queue, priority, available_at, created_at, created_by, origin, parent, schedule, slot_at, token, key, correlation, params, timeout, keep_days, restartable, gated, owes, attempt, has_input) SELECT $1::UUID AS anon_1, CASE WHEN (coalesce($2::TIMESTAMP WITH TIME ZONE, clock.at) > clock.at OR headway.definition.gated OR headway.definition.paused_at IS NOT NULL) THEN 1 ELSE 2 END AS anon_2, $3::VARCHAR AS anon_3, headway.definition.name, headway.definition.id, headway.definition.version, headway.definition.handler, headway.definition.queue, coalesce($4::SMALLINT, headway.definition.priority) AS coalesce_1, coalesce($2::TIMESTAMP WITH TIME ZONE, clock.at) AS coalesce_2, clock.at, $5::VARCHAR AS anon_4, $6::SMALLINT AS anon_5, $7::UUID AS anon_6, $8::UUID AS anon_7, $9::TIMESTAMP WITH TIME ZONE AS anon_8, $10::UUID AS anon_9, $11::VARCHAR AS anon_10, $12::VARCHAR AS anon_11, $13::VARCHAR AS anon_12, CASE WHEN (headway.definition.timeout = interval '0') THEN $14::INTERVAL ELSE headway.definition.timeout END AS anon_13, headway.definition.retention_days, headway.definition.restartable, headway.definition.gated OR headway.definition.paused_at IS NOT NULL AS anon_14, $15::SMALLINT AS anon_15, coalesce($16::INTEGER, 0) AS coalesce_3, $17::BOOLEAN AS anon_16
FROM headway.definition JOIN (SELECT headway.headway_now() AS at) AS clock ON true
WHERE headway.definition.enabled AND (NOT headway.definition.secret OR headway.definition.version = $18::INTEGER) AND NOT (headway.definition.gated OR headway.definition.paused_at IS NOT NULL) AND headway.definition.tenant = $19::VARCHAR AND headway.definition.name = $20::VARCHAR RETURNING headway.run.id, headway.run.state, headway.run.queue, headway.run.priority, headway.run.gated
