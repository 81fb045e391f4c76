-- $1 cause
-- $2 of
WITH concerned AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = $2::UUID AND (headway.run.state = 2 OR NOT headway.run.gated) ORDER BY headway.run.id FOR UPDATE)
 UPDATE headway.run SET state=CASE WHEN (headway.run.state = 2) THEN 0 ELSE headway.run.state END, cause=CASE WHEN (headway.run.state = 2) THEN $1::SMALLINT ELSE headway.run.cause END, gated=true FROM concerned WHERE headway.run.id = concerned.id
