-- $1 run
SELECT headway.attempt.attempt, headway.attempt.outcome, headway.attempt.error, CASE WHEN (headway.breaker.since IS NULL) THEN 1 ELSE (SELECT count(*) AS count_1
FROM (SELECT 1
FROM headway.attempt AS other
WHERE other.definition_id = headway.attempt.definition_id AND other.ended_at <= headway.attempt.ended_at AND other.ended_at > headway.breaker.since
 LIMIT 1000) AS a_row) END AS nth
FROM headway.attempt LEFT OUTER JOIN headway.breaker ON headway.breaker.definition = headway.attempt.definition_id
WHERE headway.attempt.run = $1::UUID AND headway.attempt.definition_id IS NOT NULL ORDER BY headway.attempt.attempt
