-- $1 ids
-- $2 until
UPDATE headway.schedule SET decided_until=greatest(headway.schedule.decided_until, n.until) FROM unnest($1::UUID[], $2::TIMESTAMP WITH TIME ZONE[]) AS n(ids, until) WHERE headway.schedule.id = n.ids
