-- $1 session
SELECT EXISTS (SELECT *
FROM headway.session
WHERE headway.session.id = $1::UUID AND headway.session.state = 1 AND headway.session.lease_until > headway.headway_now()) AS anon_1
