SELECT headway.batch.parent
FROM headway.batch
WHERE headway.batch.ended_at IS NULL AND NOT (EXISTS (SELECT *
FROM headway.reaction
WHERE headway.reaction.batch = headway.batch.parent AND NOT headway.reaction.parked)) AND headway.batch.done != headway.batch.total - (SELECT count(*) AS count_1
FROM headway.run AS child
WHERE child.parent = headway.batch.parent AND child.batch_index IS NOT NULL)
