-- $1 definition
SELECT pg_advisory_xact_lock(hashtextextended(CAST($1::UUID AS TEXT), 0)) AS pg_advisory_xact_lock_1
