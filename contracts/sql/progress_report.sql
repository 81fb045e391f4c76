-- $1 percent
-- $2 message
-- $3 run
-- $4 session
-- $5 attempt
INSERT INTO headway.run_progress (run, percent, message, updated_at) SELECT headway.run.id, $1::SMALLINT AS anon_1, $2::VARCHAR AS anon_2, headway.headway_now() AS headway_now_1
FROM headway.run
WHERE headway.run.id = $3::UUID AND headway.run.session = $4::UUID AND headway.run.attempt = $5::INTEGER AND headway.run.state + 0 = 3 ON CONFLICT (run) DO UPDATE SET percent = excluded.percent, message = excluded.message, updated_at = excluded.updated_at
