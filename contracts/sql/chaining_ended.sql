-- $1 run
SELECT headway.run_done.schedule, headway.run_done.finished_at
FROM headway.run_done
WHERE headway.run_done.id = $1::UUID
