-- $1 run
-- $2 percent
-- $3 message
INSERT INTO headway.run_progress (run, percent, message, updated_at) VALUES ($1::UUID, $2::SMALLINT, $3::VARCHAR, headway.headway_now()) ON CONFLICT (run) DO UPDATE SET percent = greatest(headway.run_progress.percent, excluded.percent), message = excluded.message, updated_at = excluded.updated_at
