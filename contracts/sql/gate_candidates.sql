-- $1 ids
SELECT headway.run.id, headway.run.definition_id, headway.run.queue, headway.run.priority, headway.run.available_at, headway.run.state, headway.run.cause, headway.run.forced, headway.run.counted
FROM headway.run
WHERE headway.run.id = any($1::UUID[]) AND (headway.run.state = 0 OR headway.run.state = 1 AND headway.run.available_at <= headway.headway_now()) ORDER BY headway.run.id FOR UPDATE
