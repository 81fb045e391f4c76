SELECT headway.reaction.run
FROM headway.reaction
WHERE headway.reaction.parked OR headway.reaction.next_look_at < headway.headway_now() - interval '60 seconds'
