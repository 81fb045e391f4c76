-- $1 kind
SELECT headway.session.id
FROM headway.session
WHERE headway.session.kind = $1::VARCHAR AND headway.session.state = 1 AND headway.session.lease_until > headway.headway_now()
