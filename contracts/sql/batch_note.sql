-- $1 done
-- $2 parent
UPDATE headway.batch SET done=$1::INTEGER WHERE headway.batch.parent = $2::UUID
