-- $1 ids
-- $2 versions
-- $3 decided
-- $4 until
WITH standing AS MATERIALIZED
(SELECT headway.schedule.id AS id, o.until AS until
FROM headway.schedule, unnest($1::UUID[], $2::INTEGER[], $3::TIMESTAMP WITH TIME ZONE[], $4::TIMESTAMP WITH TIME ZONE[]) AS o(ids, versions, decided, until)
WHERE headway.schedule.id = o.ids AND headway.schedule.version = o.versions AND headway.schedule.decided_until = o.decided ORDER BY headway.schedule.id FOR UPDATE OF schedule)
 UPDATE headway.schedule SET decided_until=standing.until FROM standing WHERE headway.schedule.id = standing.id RETURNING headway.schedule.id
