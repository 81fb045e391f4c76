-- $1 tenant
-- $2 names
SELECT headway.definition.name, headway.last_definition_run.scheduled_at, headway.last_definition_run.started_at, headway.last_definition_run.completed_at, headway.last_definition_run.latest, headway.last_definition_run.succeeded, headway.last_definition_run.succeeded_at, headway.last_definition_run.failed, headway.last_definition_run.failed_at
FROM headway.definition JOIN headway.last_definition_run ON headway.last_definition_run.definition = headway.definition.id
WHERE headway.definition.tenant = $1::VARCHAR AND headway.definition.name = any($2::TEXT[])
