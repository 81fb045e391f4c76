-- $1 definition
-- $2 limit
SELECT headway.run.id
FROM headway.run
WHERE headway.run.definition_id = $1::UUID AND headway.run.state = 0 AND (headway.run.cause = 2 OR headway.run.cause = 1) ORDER BY -headway.run.priority, headway.run.available_at, headway.run.id
 LIMIT $2::INTEGER
