-- $1 ids
DELETE FROM headway.run WHERE headway.run.id = any($1::UUID[]) AND headway.run.attempt = 0 AND headway.run.session IS NULL
