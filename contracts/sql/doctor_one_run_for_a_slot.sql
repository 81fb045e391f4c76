SELECT of_slots.schedule
FROM (SELECT headway.run.schedule AS schedule, headway.run.slot_at AS slot_at
FROM headway.run
WHERE headway.run.origin = 1 UNION ALL SELECT headway.run_done.schedule AS schedule, headway.run_done.slot_at AS slot_at
FROM headway.run_done
WHERE headway.run_done.origin = 1) AS of_slots GROUP BY of_slots.schedule, of_slots.slot_at
HAVING count(*) > 1
