-- $1 new_resolved
-- $2 calendar
-- $3 version
UPDATE headway.calendar_version SET resolved=$1::JSONB WHERE headway.calendar_version.calendar = $2::UUID AND headway.calendar_version.version = $3::INTEGER
