-- $1 schedule
SELECT headway.schedule.rule, headway.schedule.decided_until
FROM headway.schedule
WHERE headway.schedule.id = $1::UUID FOR UPDATE
