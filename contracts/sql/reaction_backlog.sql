SELECT headway.reaction.kind, count(*) AS owed, count(*) FILTER (WHERE headway.reaction.parked) AS parked, headway.headway_now() - min(headway.reaction.next_look_at) AS age
FROM headway.reaction GROUP BY headway.reaction.kind
