-- $1 cause
-- $2 of
WITH queued AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = $2::UUID AND headway.run.state = 2 ORDER BY headway.run.id FOR UPDATE)
 UPDATE headway.run SET state=0, cause=$1::SMALLINT, gated=true FROM queued WHERE headway.run.id = queued.id
