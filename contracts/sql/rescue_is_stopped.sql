-- $1 session
SELECT headway.session.state = 3 AS anon_1
FROM headway.session
WHERE headway.session.id = $1::UUID
