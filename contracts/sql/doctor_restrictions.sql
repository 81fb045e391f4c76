SELECT headway.restriction.id
FROM headway.restriction JOIN headway.run ON headway.run.definition_id = headway.restriction.first JOIN headway.run AS beside ON beside.definition_id = headway.restriction.second AND beside.id != headway.run.id
WHERE headway.run.state IN (2, 3) AND NOT headway.run.forced AND headway.run.created_at > headway.restriction.created_at AND beside.state IN (2, 3) AND NOT beside.forced AND beside.created_at > headway.restriction.created_at
