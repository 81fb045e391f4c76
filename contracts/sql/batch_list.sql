-- $1 tenant
-- $2 after
-- $3 limit
SELECT headway.batch.parent, headway.batch.tenant, headway.batch.total, headway.batch.done, headway.batch.dropped, headway.batch.closed, headway.batch.max_concurrent, headway.batch.mixed, headway.batch.counted, headway.batch.triggers, headway.batch.opened_by, headway.batch.opened_attempt, headway.batch.created_at, headway.batch.created_by, headway.batch.ended_at
FROM headway.batch
WHERE headway.batch.tenant = $1::VARCHAR AND ($2::UUID IS NULL OR headway.batch.parent < $2::UUID) ORDER BY headway.batch.parent DESC
 LIMIT $3::INTEGER
