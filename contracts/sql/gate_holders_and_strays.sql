-- $1 definitions
SELECT holder.definition_id, min(holder.definition) AS definition, count(*) AS active, min(CAST(holder.id AS TEXT)) AS run
FROM (SELECT headway.run.definition_id AS definition_id, headway.run.definition AS definition, headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = any($1::UUID[]) AND headway.run.gated AND headway.run.state IN (2, 3) UNION ALL SELECT headway.run.definition_id AS definition_id, headway.run.definition AS definition, headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = any($1::UUID[]) AND NOT headway.run.gated AND headway.run.state = 3 UNION ALL SELECT headway.run.definition_id AS definition_id, headway.run.definition AS definition, headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = any($1::UUID[]) AND NOT headway.run.gated AND headway.run.state = 2) AS holder GROUP BY holder.definition_id
