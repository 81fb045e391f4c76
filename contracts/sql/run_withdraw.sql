-- $1 ids
DELETE FROM headway.run WHERE headway.run.id = any($1::UUID[]) AND headway.run.started_at IS NULL AND headway.run.session IS NULL
