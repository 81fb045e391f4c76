-- $1 of
UPDATE headway.definition SET owes=CASE WHEN (headway.definition.allow_triggers AND (EXISTS (SELECT *
FROM headway.trigger
WHERE headway.trigger.source = headway.definition.id AND headway.trigger.enabled))) THEN headway.definition.owes | 1 ELSE headway.definition.owes & -2 END WHERE headway.definition.id = $1::UUID
