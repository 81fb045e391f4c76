-- $1 ids
-- $2 states
-- $3 causes
-- $4 dues
UPDATE headway.run SET state=o.states, available_at=coalesce(o.dues, headway.run.available_at), cause=o.causes FROM unnest($1::UUID[], $2::SMALLINT[], $3::SMALLINT[], $4::TIMESTAMP WITH TIME ZONE[]) AS o(ids, states, causes, dues) WHERE headway.run.id = o.ids AND headway.run.state < 2
