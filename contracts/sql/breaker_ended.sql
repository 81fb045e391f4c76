-- $1 run
SELECT headway.run.definition_id, headway.run.state, headway.run.created_at AS at
FROM headway.run
WHERE headway.run.id = $1::UUID UNION ALL SELECT headway.run_done.definition_id, headway.run_done.state, headway.run_done.finished_at AS at
FROM headway.run_done
WHERE headway.run_done.id = $1::UUID
