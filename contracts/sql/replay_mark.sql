-- $1 run
-- $2 original
UPDATE headway.run_done SET replayed_by=$1::UUID WHERE headway.run_done.id = $2::UUID AND headway.run_done.state = 5 AND headway.run_done.replayed_by IS NULL
