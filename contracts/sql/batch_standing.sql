-- $1 parent
SELECT count(*) AS open, count(*) FILTER (WHERE headway.run.state = 0 AND headway.run.cause = 11) AS waiting
FROM headway.run
WHERE headway.run.parent = $1::UUID AND headway.run.batch_index IS NOT NULL
