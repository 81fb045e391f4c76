-- $1 parents
UPDATE headway.batch SET closed=true WHERE headway.batch.parent = any($1::UUID[])
