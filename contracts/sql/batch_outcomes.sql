-- $1 parent
SELECT headway.run_done.outcome, count(*) AS runs
FROM headway.run_done
WHERE headway.run_done.parent = $1::UUID AND headway.run_done.batch_index IS NOT NULL AND headway.run_done.replayed_by IS NULL GROUP BY headway.run_done.outcome
