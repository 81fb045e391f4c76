-- $1 runs
-- $2 kinds
SELECT headway.reaction.run, headway.reaction.kind, headway.reaction.tries, headway.reaction.batch
FROM headway.reaction
WHERE headway.reaction.run = any($1::UUID[]) AND headway.reaction.kind = any($2::SMALLINT[]) AND NOT headway.reaction.parked AND headway.reaction.next_look_at <= headway.headway_now() ORDER BY headway.reaction.run, headway.reaction.kind FOR UPDATE SKIP LOCKED
