-- $1 limit
SELECT headway.run.id, headway.run.started_at, headway.definition.name, headway.definition.tenant, headway.definition.watch
FROM headway.run JOIN headway.definition ON headway.definition.id = headway.run.definition_id
WHERE headway.run.state = 3 AND headway.run.started_at < headway.headway_now() - CAST(headway.definition.watch ->> 'expected_duration' AS DOUBLE PRECISION) * interval '1 second' AND NOT (EXISTS (SELECT *
FROM headway.alert
WHERE headway.alert.dedupe_key = ('sla_breach:expected_duration:' || CAST(headway.run.id AS TEXT)))) ORDER BY headway.run.id
 LIMIT $1::INTEGER
