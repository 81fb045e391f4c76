-- $1 session
SELECT headway.session.id
FROM headway.session
WHERE headway.session.id = $1::UUID FOR UPDATE
