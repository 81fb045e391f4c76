-- $1 batch
WITH owed AS MATERIALIZED
(SELECT headway.reaction.run AS run
FROM headway.reaction
WHERE headway.reaction.batch = $1::UUID AND headway.reaction.kind = 1 FOR UPDATE SKIP LOCKED)
 DELETE FROM headway.reaction USING owed WHERE headway.reaction.run = owed.run AND headway.reaction.kind = 1
