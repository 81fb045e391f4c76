-- $1 limit
SELECT headway.run.id
FROM headway.run
WHERE headway.run.start_by <= headway.headway_now() AND headway.run.attempt = 0 AND headway.run.state < 3 ORDER BY headway.run.start_by, headway.run.id
 LIMIT $1::INTEGER
