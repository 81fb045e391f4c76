-- $1 definitions
WITH RECURSIVE tied(id) AS
(SELECT unnest($1::UUID[]) AS id UNION SELECT pairs.other AS other
FROM (SELECT headway.restriction.first AS one, headway.restriction.second AS other
FROM headway.restriction UNION ALL SELECT headway.restriction.second AS second, headway.restriction.first AS first
FROM headway.restriction) AS pairs JOIN tied ON pairs.one = tied.id),
sorted AS MATERIALIZED
(SELECT tied.id AS id
FROM tied ORDER BY tied.id)
 SELECT sorted.id, pg_advisory_xact_lock(hashtextextended(CAST(sorted.id AS TEXT), 0)) AS taken
FROM sorted
