SELECT headway.schedule.id, headway.schedule.rule, headway.schedule.decided_until
FROM headway.schedule
WHERE headway.schedule.chained_at IS NULL AND headway.schedule.enabled AND headway.schedule.rule ? 'after_completion' AND NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.schedule = headway.schedule.id)) AND NOT (EXISTS (SELECT *
FROM headway.run_done, headway.reaction
WHERE headway.run_done.schedule = headway.schedule.id AND headway.reaction.run = headway.run_done.id AND headway.reaction.kind = 3)) ORDER BY headway.schedule.id
 LIMIT 500 FOR UPDATE OF schedule SKIP LOCKED
