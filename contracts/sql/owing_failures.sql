-- $1 at
-- $2 run
-- $3 definition
WITH watched AS
(SELECT f.run AS run, headway.definition.id AS definition, headway.definition.created_at AS created_at, CAST(headway.definition.watch ->> 'breaker_threshold' AS INTEGER) > 0 OR CAST(headway.definition.watch ->> 'alert_after' AS INTEGER) > 1 AS counts, CAST(headway.definition.watch ->> 'alert_after' AS INTEGER) > 0 AS alerts
FROM unnest($2::UUID[], $3::UUID[]) AS f(run, definition), headway.definition
WHERE headway.definition.id = f.definition),
standing AS
(INSERT INTO headway.breaker (definition, state, since) SELECT counting.definition AS definition, 0, coalesce((SELECT max(headway.attempt.ended_at) AS max_1
FROM headway.attempt
WHERE headway.attempt.definition_id = counting.definition AND headway.attempt.ended_at < $1::TIMESTAMP WITH TIME ZONE), counting.created_at) AS coalesce_1
FROM (SELECT DISTINCT watched.definition AS definition, watched.created_at AS created_at
FROM watched
WHERE watched.counts) AS counting ORDER BY counting.definition ON CONFLICT DO NOTHING)
 INSERT INTO headway.reaction (run, kind, next_look_at) SELECT watched.run, kinds.kind, $1::TIMESTAMP WITH TIME ZONE AS anon_1
FROM watched, unnest(ARRAY[2, 4]) AS kinds(kind)
WHERE kinds.kind = 2 AND watched.counts OR kinds.kind = 4 AND watched.alerts ORDER BY watched.run, kinds.kind ON CONFLICT (run, kind) DO UPDATE SET tries = 0, next_look_at = excluded.next_look_at, parked = false RETURNING headway.reaction.run, headway.reaction.kind
