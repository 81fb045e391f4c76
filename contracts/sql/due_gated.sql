-- $1 now
-- $2 limit
SELECT headway.run.id
FROM headway.run
WHERE headway.run.state = 1 AND headway.run.available_at <= $1::TIMESTAMP WITH TIME ZONE AND coalesce(headway.run.gated, false) ORDER BY headway.run.available_at, headway.run.id
 LIMIT $2::INTEGER
