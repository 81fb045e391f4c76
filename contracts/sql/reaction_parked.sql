-- $1 limit
SELECT headway.reaction.run, headway.reaction.kind, headway.reaction.tries, headway.reaction.next_look_at, headway.reaction.last_error, headway.reaction.parked, headway.reaction.batch
FROM headway.reaction
WHERE headway.reaction.parked ORDER BY headway.reaction.run
 LIMIT $1::INTEGER
