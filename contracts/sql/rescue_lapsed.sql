-- $1 limit
SELECT headway.session.id
FROM headway.session
WHERE headway.session.state < 3 AND headway.session.lease_until <= headway.headway_now() ORDER BY headway.session.id
 LIMIT $1::INTEGER
