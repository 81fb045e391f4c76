-- $1 age
DELETE FROM headway.session WHERE headway.session.lease_until < headway.headway_now() - $1::INTERVAL AND NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.session = headway.session.id AND headway.run.state = 3))
