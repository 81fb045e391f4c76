-- $1 ids
-- $2 versions
-- $3 decided
-- $4 until
UPDATE headway.schedule SET decided_until=o.until FROM unnest($1::UUID[], $2::INTEGER[], $3::TIMESTAMP WITH TIME ZONE[], $4::TIMESTAMP WITH TIME ZONE[]) AS o(ids, versions, decided, until) WHERE headway.schedule.id = o.ids AND headway.schedule.version = o.versions AND headway.schedule.decided_until = o.decided RETURNING headway.schedule.id
