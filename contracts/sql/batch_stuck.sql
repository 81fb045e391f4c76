-- $1 limit
SELECT headway.batch.parent, NOT headway.batch.closed AND headway.batch.opened_by IS NOT NULL AND NOT (EXISTS (SELECT *
FROM headway.run AS opener
WHERE opener.id = headway.batch.opened_by AND opener.attempt = headway.batch.opened_attempt AND opener.state + 0 = 3)) AS opener_ended, EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.batch.parent AND headway.run.cancel_requested_at IS NOT NULL) AS wished
FROM headway.batch
WHERE headway.batch.ended_at IS NULL AND (NOT headway.batch.closed AND headway.batch.opened_by IS NOT NULL AND NOT (EXISTS (SELECT *
FROM headway.run AS opener
WHERE opener.id = headway.batch.opened_by AND opener.attempt = headway.batch.opened_attempt AND opener.state + 0 = 3)) OR headway.batch.closed AND NOT (EXISTS (SELECT *
FROM headway.run AS child
WHERE child.parent = headway.batch.parent AND child.batch_index IS NOT NULL)) OR headway.batch.max_concurrent > 0 AND (EXISTS (SELECT *
FROM headway.run AS child
WHERE child.parent = headway.batch.parent AND child.batch_index IS NOT NULL AND child.state = 0 AND child.cause = 11)) AND (SELECT count(*) AS count_1
FROM headway.run AS child
WHERE child.parent = headway.batch.parent AND child.batch_index IS NOT NULL AND NOT (child.state = 0 AND child.cause = 11)) < headway.batch.max_concurrent OR (EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.batch.parent AND headway.run.cancel_requested_at IS NOT NULL)) AND (EXISTS (SELECT *
FROM headway.run AS child
WHERE child.parent = headway.batch.parent AND child.batch_index IS NOT NULL AND child.cancel_requested_at IS NULL))) ORDER BY headway.batch.parent
 LIMIT $1::INTEGER
