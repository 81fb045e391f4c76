-- $1 run
SELECT failing.id, failing.definition_id, failing.reason, failing.attempt, failing.available_at, failing.started_at, failing.outcome, failing.finished_at, headway.definition.name, headway.definition.tenant, headway.definition.watch
FROM (SELECT headway.run.id AS id, headway.run.definition_id AS definition_id, headway.run.reason AS reason, headway.run.attempt AS attempt, headway.run.available_at AS available_at, headway.run.started_at AS started_at, 0 AS outcome, NULL AS finished_at
FROM headway.run
WHERE headway.run.id = $1::UUID UNION ALL SELECT headway.run_done.id AS id, headway.run_done.definition_id AS definition_id, headway.run_done.reason AS reason, headway.run_done.attempt AS attempt, headway.run_done.available_at AS available_at, headway.run_done.started_at AS started_at, headway.run_done.outcome AS outcome, headway.run_done.finished_at AS finished_at
FROM headway.run_done
WHERE headway.run_done.id = $1::UUID) AS failing JOIN headway.definition ON headway.definition.id = failing.definition_id
