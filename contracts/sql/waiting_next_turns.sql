-- $1 limit
WITH heads AS
(SELECT DISTINCT ON (headway.run.schedule) headway.run.id AS id
FROM headway.run
WHERE headway.run.schedule IS NOT NULL AND headway.run.state = 0 AND headway.run.cause = 10 AND NOT (EXISTS (SELECT *
FROM headway.run AS other
WHERE other.schedule = headway.run.schedule AND other.origin IN (2, 3) AND (other.state != 0 OR other.cause != 10))) ORDER BY headway.run.schedule, headway.run.slot_at, headway.run.id
 LIMIT $1::INTEGER)
 UPDATE headway.run SET state=1, cause=0 FROM heads WHERE headway.run.id = heads.id AND headway.run.state = 0 AND headway.run.cause = 10 RETURNING headway.run.id
