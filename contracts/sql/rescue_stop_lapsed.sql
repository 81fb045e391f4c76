-- $1 session
UPDATE headway.session SET state=3 WHERE headway.session.id = $1::UUID AND headway.session.state < 3 AND headway.session.lease_until <= headway.headway_now() RETURNING headway.session.id
