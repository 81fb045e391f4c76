-- $1 description
-- $2 new_windows
-- $3 new_resolved
-- $4 now
-- $5 calendar
UPDATE headway.calendar SET description=$1::VARCHAR, windows=$2::JSONB, resolved=$3::JSONB, version=(headway.calendar.version + 1), updated_at=$4::TIMESTAMP WITH TIME ZONE WHERE headway.calendar.id = $5::UUID RETURNING headway.calendar.version
