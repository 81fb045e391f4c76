-- $1 lease
-- $2 in_flight
-- $3 session
UPDATE headway.session SET lease_until=(headway.headway_now() + $1::INTERVAL), in_flight=$2::INTEGER WHERE headway.session.id = $3::UUID AND headway.session.state < 3 AND headway.session.lease_until > headway.headway_now() RETURNING headway.session.lease_until, headway.headway_now() AS now, (SELECT array_agg(headway.run.id) AS array_agg_1
FROM headway.run
WHERE headway.run.session = headway.session.id AND headway.run.state = 3 AND headway.run.cancel_requested_at IS NOT NULL) AS wishes
