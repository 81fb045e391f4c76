-- $1 ids
SELECT headway.run_input.run, headway.run_input.params, headway.run_input.payload, headway.run_input.traceparent, headway.run_input.tracestate
FROM headway.run_input
WHERE headway.run_input.run = any($1::UUID[])
