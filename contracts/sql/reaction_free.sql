UPDATE headway.reaction SET tries=0, next_look_at=headway.headway_now(), parked=false WHERE headway.reaction.parked
