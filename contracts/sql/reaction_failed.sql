-- $1 wait
-- $2 error
-- $3 run
-- $4 kind
UPDATE headway.reaction SET tries=(headway.reaction.tries + 1), next_look_at=(headway.headway_now() + $1::INTERVAL), last_error=$2::VARCHAR, parked=(headway.reaction.tries + 1 >= 10) WHERE headway.reaction.run = $3::UUID AND headway.reaction.kind = $4::SMALLINT RETURNING headway.reaction.parked
