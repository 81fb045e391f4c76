-- $1 parent
UPDATE headway.batch SET closed=true, ended_at=headway.headway_now() WHERE headway.batch.parent = $1::UUID
