SELECT DISTINCT headway.run.queue
FROM headway.run
WHERE headway.run.state = 2
