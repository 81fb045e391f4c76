-- $1 ids
UPDATE headway.run SET gated=true WHERE headway.run.id = any($1::UUID[])
