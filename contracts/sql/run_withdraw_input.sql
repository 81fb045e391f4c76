-- $1 ids
DELETE FROM headway.run_input WHERE headway.run_input.run = any($1::UUID[])
