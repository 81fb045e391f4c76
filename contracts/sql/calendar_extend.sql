-- $1 new_resolved
-- $2 now
-- $3 calendar
UPDATE headway.calendar SET resolved=$1::JSONB, updated_at=$2::TIMESTAMP WITH TIME ZONE WHERE headway.calendar.id = $3::UUID
