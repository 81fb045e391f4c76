SELECT headway.definition.name
FROM headway.definition
WHERE ((headway.definition.owes & 1) != 0) != (headway.definition.allow_triggers AND (EXISTS (SELECT *
FROM headway.trigger
WHERE headway.trigger.source = headway.definition.id AND headway.trigger.enabled)))
