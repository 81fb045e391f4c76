-- $1 now
-- $2 limit
WITH head AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.state = 1 AND headway.run.available_at <= $1::TIMESTAMP WITH TIME ZONE AND NOT headway.run.gated ORDER BY headway.run.available_at, headway.run.id
 LIMIT $2::INTEGER FOR UPDATE SKIP LOCKED)
 UPDATE headway.run SET state=2 WHERE headway.run.id = any(array((SELECT head.id
FROM head))) RETURNING headway.run.id, headway.run.queue, headway.run.priority
