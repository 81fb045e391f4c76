-- $1 session
SELECT DISTINCT headway.run.definition_id
FROM headway.run
WHERE headway.run.state = 3 AND headway.run.gated AND headway.run.session = $1::UUID
