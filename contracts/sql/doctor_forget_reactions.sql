DELETE FROM headway.reaction WHERE NOT (EXISTS (SELECT *
FROM headway.run_done
WHERE headway.run_done.id = headway.reaction.run)) AND NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.reaction.run))
