-- $1 grace
-- $2 limit
SELECT headway.run.id
FROM headway.run
WHERE headway.run.state = 3 AND headway.run.cancel_requested_at < headway.headway_now() - $1::INTERVAL ORDER BY headway.run.id
 LIMIT $2::INTEGER
