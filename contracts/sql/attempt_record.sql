-- $1 run
-- $2 attempt
-- $3 session
-- $4 started_at
-- $5 ended_at
-- $6 outcome
-- $7 reason
-- $8 error
-- $9 result
-- $10 definition_id
INSERT INTO headway.attempt (run, attempt, session, started_at, ended_at, outcome, reason, error, result, definition_id) SELECT a.run, a.attempt, a.session, a.started_at, a.ended_at, a.outcome, a.reason, a.error, a.result, a.definition_id
FROM unnest($1::UUID[], $2::INTEGER[], $3::UUID[], $4::TIMESTAMP WITH TIME ZONE[], $5::TIMESTAMP WITH TIME ZONE[], $6::SMALLINT[], $7::TEXT[], $8::JSONB[], $9::TEXT[], $10::UUID[]) AS a(run, attempt, session, started_at, ended_at, outcome, reason, error, result, definition_id) ON CONFLICT DO NOTHING
