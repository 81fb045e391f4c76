-- $1 definition
-- $2 after
-- $3 limit
SELECT headway.run.id, headway.run.queue, headway.run.priority
FROM headway.run
WHERE headway.run.state = 2 AND ($1::VARCHAR IS NULL OR headway.run.definition = $1::VARCHAR) AND ($2::UUID IS NULL OR headway.run.id > $2::UUID) ORDER BY headway.run.id
 LIMIT $3::INTEGER
