-- $1 now
-- $2 by
-- $3 reason
-- $4 until
-- $5 of
UPDATE headway.definition SET paused_at=$1::TIMESTAMP WITH TIME ZONE, paused_by=$2::VARCHAR, paused_reason=$3::VARCHAR, paused_until=$4::TIMESTAMP WITH TIME ZONE WHERE headway.definition.id = $5::UUID
