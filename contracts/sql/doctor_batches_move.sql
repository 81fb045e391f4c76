SELECT headway.batch.parent
FROM headway.batch
WHERE headway.batch.ended_at IS NULL AND (NOT (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.state = 0 AND headway.run.cause = 5 AND headway.run.id = headway.batch.parent)) OR headway.batch.closed AND NOT (EXISTS (SELECT *
FROM headway.reaction
WHERE headway.reaction.batch = headway.batch.parent AND NOT headway.reaction.parked)) AND NOT (EXISTS (SELECT *
FROM headway.run AS child
WHERE child.parent = headway.batch.parent AND child.batch_index IS NOT NULL))) UNION ALL SELECT headway.run.id
FROM headway.run
WHERE headway.run.state = 0 AND headway.run.cause = 5 AND NOT (EXISTS (SELECT *
FROM headway.batch
WHERE headway.batch.parent = headway.run.id AND headway.batch.ended_at IS NULL))
