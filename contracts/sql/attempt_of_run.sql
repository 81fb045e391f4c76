-- $1 run
SELECT headway.attempt.run, headway.attempt.attempt, headway.attempt.session, headway.attempt.started_at, headway.attempt.ended_at, headway.attempt.outcome, headway.attempt.reason, headway.attempt.error, headway.attempt.result, headway.attempt.definition_id
FROM headway.attempt
WHERE headway.attempt.run = $1::UUID ORDER BY headway.attempt.attempt
