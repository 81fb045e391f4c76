-- $1 definitions
-- $2 limit
SELECT waiter.id
FROM unnest($1::UUID[]) AS d(definitions) JOIN LATERAL (SELECT headway.run.id AS id, headway.run.priority AS priority, headway.run.available_at AS available_at
FROM headway.run
WHERE headway.run.definition_id = d.definitions AND headway.run.state = 0 AND headway.run.cause IN (1, 6, 2, 8) ORDER BY -headway.run.priority, headway.run.available_at, headway.run.id
 LIMIT $2::INTEGER) AS waiter ON true ORDER BY -waiter.priority, waiter.available_at, waiter.id
