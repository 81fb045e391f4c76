-- $1 run
-- $2 params
-- $3 payload
-- $4 traceparent
INSERT INTO headway.run_input (run, params, payload, traceparent) SELECT given.run, given.params, given.payload, given.traceparent
FROM unnest($1::UUID[], $2::TEXT[], $3::BYTEA[], $4::TEXT[]) AS given(run, params, payload, traceparent)
