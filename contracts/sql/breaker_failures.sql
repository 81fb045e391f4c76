-- $1 definition
-- $2 since
SELECT count(*) AS count_1
FROM (SELECT 1
FROM headway.attempt
WHERE headway.attempt.definition_id = $1::UUID AND headway.attempt.ended_at > $2::TIMESTAMP WITH TIME ZONE
 LIMIT 1000) AS failed
