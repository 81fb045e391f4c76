-- $1 run
-- $2 attempt
-- $3 session
-- $4 started_at
-- $5 ended_at
-- $6 outcome
-- $7 reason
-- $8 error
-- $9 result
INSERT INTO headway.attempt (run, attempt, session, started_at, ended_at, outcome, reason, error, result) SELECT a.run, a.attempt, a.session, a.started_at, a.ended_at, a.outcome, a.reason, a.error, a.result
FROM unnest($1::UUID[], $2::INTEGER[], $3::UUID[], $4::TIMESTAMP WITH TIME ZONE[], $5::TIMESTAMP WITH TIME ZONE[], $6::SMALLINT[], $7::TEXT[], $8::JSONB[], $9::TEXT[]) AS a(run, attempt, session, started_at, ended_at, outcome, reason, error, result) ON CONFLICT DO NOTHING
