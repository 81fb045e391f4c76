-- $1 runs
-- $2 kind
DELETE FROM headway.reaction WHERE headway.reaction.run = any($1::UUID[]) AND headway.reaction.kind = $2::SMALLINT
