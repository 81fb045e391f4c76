-- $1 ids
-- $2 chained
UPDATE headway.schedule SET chained_at=n.chained FROM unnest($1::UUID[], $2::TIMESTAMP WITH TIME ZONE[]) AS n(ids, chained) WHERE headway.schedule.id = n.ids
