-- $1 ids
WITH next AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.id = any($1::UUID[]) AND headway.run.state = 0 AND headway.run.cause = 11 ORDER BY headway.run.id FOR UPDATE)
 UPDATE headway.run SET state=1, cause=0 FROM next WHERE headway.run.id = next.id
