-- $1 ids
-- $2 causes
UPDATE headway.run SET state=0, cause=h.causes FROM unnest($1::UUID[], $2::SMALLINT[]) AS h(ids, causes) WHERE headway.run.id = h.ids AND headway.run.state < 3
