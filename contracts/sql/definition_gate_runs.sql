-- $1 gate
-- $2 of
WITH regated AS MATERIALIZED
(SELECT headway.run.id AS id
FROM headway.run
WHERE headway.run.definition_id = $2::UUID AND headway.run.gated IS DISTINCT FROM $1::BOOLEAN ORDER BY headway.run.id FOR UPDATE)
 UPDATE headway.run SET gated=$1::BOOLEAN FROM regated WHERE headway.run.id = regated.id
