-- $1 ids
WITH RECURSIVE ways(source, target) AS
(SELECT headway.trigger.source AS source, headway.trigger.target AS target
FROM headway.trigger
WHERE headway.trigger.enabled AND headway.trigger.source = any($1::UUID[]) UNION SELECT headway.trigger.source AS source, headway.trigger.target AS target
FROM headway.trigger JOIN ways ON ways.target = headway.trigger.source
WHERE headway.trigger.enabled)
 SELECT ways.source, source.name AS source_name, ways.target, target.name AS target_name
FROM ways JOIN headway.definition AS source ON source.id = ways.source JOIN headway.definition AS target ON target.id = ways.target ORDER BY source.name, target.name
