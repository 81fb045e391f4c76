SELECT headway.run.id
FROM headway.run
WHERE headway.run.state = 0 AND headway.run.cause = 0
