-- $1 parked
UPDATE headway.reaction SET tries=0, next_look_at=headway.headway_now(), parked=$1::BOOLEAN WHERE headway.reaction.parked
