-- $1 ids
-- $2 attempts
-- $3 states
-- $4 dues
-- $5 failures
-- $6 crashes
-- $7 reasons
-- $8 session
UPDATE headway.run SET state=CASE WHEN (headway.run.gated AND o.states = 2) THEN 0 ELSE o.states END, available_at=coalesce(o.dues, headway.run.available_at), failures=coalesce(o.failures, headway.run.failures), crashes=coalesce(o.crashes, headway.run.crashes), session=NULL, reason=o.reasons, cause=CASE WHEN (headway.run.gated AND o.states = 2) THEN 8 ELSE 0 END, deadline_at=NULL FROM unnest($1::UUID[], $2::INTEGER[], $3::SMALLINT[], $4::TIMESTAMP WITH TIME ZONE[], $5::SMALLINT[], $6::SMALLINT[], $7::TEXT[]) AS o(ids, attempts, states, dues, failures, crashes, reasons) WHERE headway.run.id = o.ids AND headway.run.attempt = o.attempts AND headway.run.session = $8::UUID RETURNING headway.run.id, headway.run.state, headway.run.definition, headway.run.definition_id, headway.run.schedule, headway.run.queue, headway.run.priority, headway.run.owes, headway.run.gated, headway.run.attempt, headway.run.available_at, headway.run.started_at, headway.run.parent
