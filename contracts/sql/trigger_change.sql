-- $1 new_description
-- $2 new_target
-- $3 new_condition
-- $4 new_parameters
-- $5 new_enabled
-- $6 overridden
-- $7 now
-- $8 id
UPDATE headway.trigger SET description=$1::VARCHAR, target=$2::UUID, condition=$3::JSONB, parameters=$4::JSONB, enabled=$5::BOOLEAN, overridden=$6::TEXT[], version=(headway.trigger.version + 1), updated_at=$7::TIMESTAMP WITH TIME ZONE WHERE headway.trigger.id = $8::UUID
