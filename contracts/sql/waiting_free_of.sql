-- $1 schedules
UPDATE headway.run SET state=1, cause=0 WHERE headway.run.schedule = any($1::UUID[]) AND headway.run.state = 0 AND headway.run.cause = 9 AND NOT (EXISTS (SELECT *
FROM headway.run AS other
WHERE other.schedule = headway.run.schedule AND other.origin = 1 AND other.id != headway.run.id)) RETURNING headway.run.id
