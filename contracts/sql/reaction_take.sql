-- $1 kinds
-- $2 limit
SELECT headway.reaction.run, headway.reaction.kind, headway.reaction.tries, headway.reaction.batch
FROM headway.reaction
WHERE headway.reaction.kind = any($1::SMALLINT[]) AND NOT headway.reaction.parked AND headway.reaction.next_look_at <= headway.headway_now() ORDER BY headway.reaction.next_look_at, headway.reaction.run
 LIMIT $2::INTEGER FOR UPDATE SKIP LOCKED
