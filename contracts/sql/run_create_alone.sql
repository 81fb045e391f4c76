-- $1 max_run
-- $2 id
-- $3 wanted
-- $4 owner
-- $5 tenant
-- $6 priority
-- $7 available_at
-- $8 created_by
-- $9 origin
-- $10 parent
-- $11 schedule
-- $12 slot_at
-- $13 token
-- $14 key
-- $15 correlation
-- $16 params
-- $17 has_input
INSERT INTO headway.run (id, state, tenant, definition, definition_id, definition_version, handler, queue, priority, available_at, created_at, created_by, origin, parent, schedule, slot_at, token, key, correlation, params, timeout, keep_days, restartable, gated, has_input) SELECT given.id, CASE WHEN (coalesce(given.available_at, clock.at) > clock.at OR headway.definition.gated OR headway.definition.paused_at IS NOT NULL) THEN 1 ELSE 2 END AS anon_1, given.tenant, headway.definition.name, headway.definition.id AS id_1, headway.definition.version, headway.definition.handler, headway.definition.queue, coalesce(given.priority, headway.definition.priority) AS coalesce_1, coalesce(given.available_at, clock.at) AS coalesce_2, clock.at, given.created_by, given.origin, given.parent, given.schedule, given.slot_at, given.token, given.key, given.correlation, given.params, CASE WHEN (headway.definition.timeout = interval '0') THEN $1::INTERVAL ELSE headway.definition.timeout END AS anon_2, headway.definition.retention_days, headway.definition.restartable, headway.definition.gated OR headway.definition.paused_at IS NOT NULL AS anon_3, given.has_input
FROM unnest($2::UUID[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::SMALLINT[], $7::TIMESTAMP WITH TIME ZONE[], $8::TEXT[], $9::SMALLINT[], $10::UUID[], $11::UUID[], $12::TIMESTAMP WITH TIME ZONE[], $13::UUID[], $14::TEXT[], $15::TEXT[], $16::TEXT[], $17::BOOLEAN[]) AS given(id, wanted, owner, tenant, priority, available_at, created_by, origin, parent, schedule, slot_at, token, key, correlation, params, has_input) JOIN headway.definition ON headway.definition.tenant = given.owner AND headway.definition.name = given.wanted JOIN (SELECT headway.headway_now() AS at) AS clock ON true
WHERE headway.definition.enabled AND NOT (headway.definition.gated OR headway.definition.paused_at IS NOT NULL) RETURNING headway.run.id, headway.run.state, headway.run.queue, headway.run.priority, headway.run.gated
