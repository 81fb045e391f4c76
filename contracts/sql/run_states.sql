-- $1 ids
SELECT headway.run.id, headway.run.state
FROM headway.run
WHERE headway.run.id = any($1::UUID[]) UNION ALL SELECT headway.run_done.id, headway.run_done.state
FROM headway.run_done
WHERE headway.run_done.id = any($1::UUID[])
