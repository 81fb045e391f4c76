-- $1 session
UPDATE headway.session SET state=3, lease_until=headway.headway_now() WHERE headway.session.id = $1::UUID AND headway.session.state < 3
