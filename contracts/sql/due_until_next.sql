SELECT min(headway.run.available_at) - headway.headway_now() AS anon_1
FROM headway.run
WHERE headway.run.state = 1
