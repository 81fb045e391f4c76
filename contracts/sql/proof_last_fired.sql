-- $1 tzdata
-- $2 of
-- $3 after
SELECT headway.slot.slot_at, coalesce(nullif(headway.slot.tzdata_version, $1::VARCHAR), '') AS tzdata, headway.slot.decided_at, headway.slot.decision, headway.slot.reason, headway.run_done.finished_at, EXISTS (SELECT *
FROM headway.run
WHERE headway.run.id = headway.slot.run) AS open
FROM headway.slot LEFT OUTER JOIN headway.run_done ON headway.run_done.id = headway.slot.run
WHERE headway.slot.schedule = $2::UUID AND headway.slot.slot_at <= $3::TIMESTAMP WITH TIME ZONE AND headway.slot.decision != 3 ORDER BY headway.slot.slot_at DESC
 LIMIT 1
