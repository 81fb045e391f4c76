-- $1 limit
WITH late AS MATERIALIZED
(SELECT headway.run.id AS id, headway.run.must_start_by AS must_start_by
FROM headway.run
WHERE headway.run.must_start_by <= headway.headway_now() ORDER BY headway.run.must_start_by, headway.run.id
 LIMIT $1::INTEGER FOR UPDATE SKIP LOCKED)
 UPDATE headway.run SET must_start_by=NULL FROM late, headway.definition WHERE headway.run.id = late.id AND headway.definition.id = headway.run.definition_id RETURNING headway.run.id, headway.run.attempt, headway.run.started_at, late.must_start_by, headway.definition.name, headway.definition.tenant, headway.definition.watch
