-- $1 of
WITH gateless AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = $1::UUID AND NOT headway.run.gated ORDER BY headway.run.id FOR UPDATE)
 UPDATE headway.run SET gated=true FROM gateless WHERE headway.run.id = gateless.id
