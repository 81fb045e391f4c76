-- $1 session
UPDATE headway.session SET state=2 WHERE headway.session.id = $1::UUID AND headway.session.state = 1
