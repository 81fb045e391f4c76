SELECT headway.run.id
FROM headway.run
WHERE headway.run.state = 1 AND headway.run.available_at < headway.headway_now() - interval '60 seconds'
