-- $1 state
-- $2 since
-- $3 failures
-- $4 opened_at
-- $5 reopen_at
-- $6 definition
UPDATE headway.breaker SET state=$1::SMALLINT, since=$2::TIMESTAMP WITH TIME ZONE, failures=$3::INTEGER, opened_at=$4::TIMESTAMP WITH TIME ZONE, reopen_at=$5::TIMESTAMP WITH TIME ZONE WHERE headway.breaker.definition = $6::UUID
