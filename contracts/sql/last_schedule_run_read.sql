-- $1 ids
SELECT headway.last_schedule_run.schedule, headway.last_schedule_run.scheduled_at, headway.last_schedule_run.started_at, headway.last_schedule_run.completed_at, headway.last_schedule_run.latest, headway.last_schedule_run.succeeded, headway.last_schedule_run.succeeded_at, headway.last_schedule_run.failed, headway.last_schedule_run.failed_at
FROM headway.last_schedule_run
WHERE headway.last_schedule_run.schedule = any($1::UUID[])
