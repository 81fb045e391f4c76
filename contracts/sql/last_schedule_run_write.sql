-- $1 schedule
-- $2 scheduled_at
-- $3 started_at
-- $4 completed_at
-- $5 latest
-- $6 succeeded
-- $7 succeeded_at
-- $8 failed
-- $9 failed_at
INSERT INTO headway.last_schedule_run (schedule, scheduled_at, started_at, completed_at, latest, succeeded, succeeded_at, failed, failed_at) SELECT g.schedule, g.scheduled_at, g.started_at, g.completed_at, g.latest, g.succeeded, g.succeeded_at, g.failed, g.failed_at
FROM unnest($1::UUID[], $2::TIMESTAMP WITH TIME ZONE[], $3::TIMESTAMP WITH TIME ZONE[], $4::TIMESTAMP WITH TIME ZONE[], $5::UUID[], $6::UUID[], $7::TIMESTAMP WITH TIME ZONE[], $8::UUID[], $9::TIMESTAMP WITH TIME ZONE[]) AS g(schedule, scheduled_at, started_at, completed_at, latest, succeeded, succeeded_at, failed, failed_at) ON CONFLICT (schedule) DO UPDATE SET scheduled_at = greatest(headway.last_schedule_run.scheduled_at, excluded.scheduled_at), started_at = greatest(headway.last_schedule_run.started_at, excluded.started_at), completed_at = greatest(headway.last_schedule_run.completed_at, excluded.completed_at), latest = greatest(headway.last_schedule_run.latest, excluded.latest), succeeded = greatest(headway.last_schedule_run.succeeded, excluded.succeeded), succeeded_at = greatest(headway.last_schedule_run.succeeded_at, excluded.succeeded_at), failed = greatest(headway.last_schedule_run.failed, excluded.failed), failed_at = greatest(headway.last_schedule_run.failed_at, excluded.failed_at)
