-- $1 definition
UPDATE headway.definition SET version=(headway.definition.version + 1), updated_at=headway.headway_now() WHERE headway.definition.id = $1::UUID RETURNING headway.definition.version
