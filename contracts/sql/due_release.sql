-- $1 now
-- $2 limit
WITH head AS MATERIALIZED
(SELECT headway.run.id AS id, headway.run.gated AS gated
FROM headway.run
WHERE headway.run.state = 1 AND headway.run.available_at <= $1::TIMESTAMP WITH TIME ZONE ORDER BY headway.run.available_at, headway.run.id
 LIMIT $2::INTEGER FOR UPDATE SKIP LOCKED),
released AS
(UPDATE headway.run SET state=2 FROM head WHERE headway.run.id = head.id AND NOT head.gated RETURNING headway.run.id, headway.run.queue, headway.run.priority)
 SELECT head.id, head.gated, released.queue, released.priority
FROM head LEFT OUTER JOIN released ON released.id = head.id
