SELECT headway.run.queue, headway.run.state, count(*) AS runs, headway.headway_now() - min(headway.run.available_at) AS age
FROM headway.run GROUP BY headway.run.queue, headway.run.state
