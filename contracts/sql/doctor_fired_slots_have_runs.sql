SELECT headway.slot.schedule
FROM headway.slot
WHERE headway.slot.decision = 1 AND (headway.slot.run IS NULL OR headway.slot.decided_at > headway.headway_now() - interval '1 hour') AND NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.slot.run)) AND NOT (EXISTS (SELECT *
FROM headway.run_done
WHERE headway.run_done.id = headway.slot.run))
