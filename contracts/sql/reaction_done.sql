-- $1 run
-- $2 kind
DELETE FROM headway.reaction WHERE headway.reaction.run = $1::UUID AND headway.reaction.kind = $2::SMALLINT
