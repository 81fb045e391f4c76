-- $1 of
WITH queued AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = $1::UUID AND headway.run.state = 2 ORDER BY headway.run.id FOR UPDATE)
 UPDATE headway.run SET state=0, cause=1, gated=true FROM queued WHERE headway.run.id = queued.id
