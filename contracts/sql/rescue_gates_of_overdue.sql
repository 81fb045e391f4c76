-- $1 grace
SELECT DISTINCT headway.run.definition_id
FROM headway.run
WHERE headway.run.state = 3 AND headway.run.gated AND headway.run.deadline_at < headway.headway_now() - $1::INTERVAL
