-- $1 run
-- $2 session
-- $3 attempt
SELECT headway.run.id
FROM headway.run
WHERE headway.run.id = $1::UUID AND headway.run.session = $2::UUID AND headway.run.attempt = $3::INTEGER AND headway.run.state + 0 = 3 FOR KEY SHARE
