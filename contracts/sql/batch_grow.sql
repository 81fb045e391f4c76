-- $1 more
-- $2 parent
UPDATE headway.batch SET total=(headway.batch.total + $1::INTEGER) WHERE headway.batch.parent = $2::UUID
