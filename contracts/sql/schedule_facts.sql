-- $1 ids
SELECT headway.schedule.id, headway.schedule.parameters, headway.schedule.payload, headway.definition.parameters AS defaults, headway.definition.parameter_spec AS spec, headway.definition.priority, headway.schedule.enabled AND headway.definition.enabled AS enabled, headway.schedule.paused_at IS NOT NULL OR headway.definition.paused_at IS NOT NULL AS paused, coalesce(nullif(headway.schedule.paused_by, ''), headway.definition.paused_by) AS paused_by, coalesce(nullif(headway.schedule.paused_reason, ''), headway.definition.paused_reason) AS paused_reason, (SELECT count(*) AS count_1
FROM headway.run
WHERE headway.run.schedule = headway.schedule.id AND headway.run.origin = 1) AS open_runs, (SELECT count(*) AS count_2
FROM headway.run
WHERE headway.run.schedule = headway.schedule.id AND headway.run.origin = 1 AND headway.run.attempt = 0 AND headway.run.state < 3) AS pending_runs, (SELECT headway.run.id
FROM headway.run
WHERE headway.run.schedule = headway.schedule.id AND headway.run.origin = 1 ORDER BY headway.run.slot_at
 LIMIT 1) AS oldest_open, headway.definition.id AS definition_id, headway.definition.gated OR headway.definition.tripped AS gated, headway.definition.tripped OR headway.definition.gated AND (EXISTS (SELECT *
FROM headway.restriction
WHERE headway.restriction.first = headway.definition.id OR headway.restriction.second = headway.definition.id)) AS guarded
FROM headway.schedule JOIN headway.definition ON headway.definition.id = headway.schedule.definition
WHERE headway.schedule.id = any($1::UUID[])
