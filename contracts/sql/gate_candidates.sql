-- $1 ids
SELECT headway.run.id, headway.run.definition_id, headway.run.queue, headway.run.priority
FROM headway.run
WHERE headway.run.id = any($1::UUID[]) AND headway.run.state < 2 ORDER BY headway.run.id FOR UPDATE
