-- $1 run
SELECT failing.id, failing.definition_id, failing.outcome, failing.reason, headway.definition.name, headway.definition.tenant, headway.definition.watch
FROM (SELECT headway.run.id AS id, headway.run.definition_id AS definition_id, 0 AS outcome, headway.run.reason AS reason
FROM headway.run
WHERE headway.run.id = $1::UUID UNION ALL SELECT headway.run_done.id AS id, headway.run_done.definition_id AS definition_id, headway.run_done.outcome AS outcome, headway.run_done.reason AS reason
FROM headway.run_done
WHERE headway.run_done.id = $1::UUID) AS failing JOIN headway.definition ON headway.definition.id = failing.definition_id
