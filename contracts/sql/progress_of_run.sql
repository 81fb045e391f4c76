-- $1 run
SELECT headway.run_progress.run, headway.run_progress.percent, headway.run_progress.message, headway.run_progress.updated_at
FROM headway.run_progress
WHERE headway.run_progress.run = $1::UUID
