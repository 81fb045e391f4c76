-- $1 before
-- $2 limit
-- $3 definitions
SELECT longest.id, headway.definition.id AS definition_id
FROM headway.definition JOIN LATERAL (SELECT headway.run.id AS id, headway.run.available_at AS available_at
FROM headway.run
WHERE headway.run.definition_id = headway.definition.id AND headway.run.state = 0 AND headway.run.cause IN (2, 8) AND headway.run.available_at <= $1::TIMESTAMP WITH TIME ZONE ORDER BY headway.run.available_at, headway.run.id
 LIMIT $2::INTEGER) AS longest ON true
WHERE headway.definition.id = any($3::UUID[]) AND headway.definition.paused_at IS NULL AND NOT headway.definition.tripped ORDER BY longest.available_at, longest.id
