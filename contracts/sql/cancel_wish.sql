-- $1 reason
-- $2 actor
-- $3 ids
UPDATE headway.run SET reason=$1::VARCHAR, cancel_requested_at=headway.headway_now(), cancel_by=$2::VARCHAR WHERE headway.run.id = any($3::UUID[]) AND (headway.run.state + 0 = 3 OR headway.run.cause = 5) AND headway.run.cancel_requested_at IS NULL RETURNING headway.run.id, headway.run.session
