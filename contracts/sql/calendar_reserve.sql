-- $1 tenant
-- $2 name
SELECT pg_advisory_xact_lock(hashtextextended('calendar:' || $1::VARCHAR || '/' || $2::VARCHAR, 0)) AS pg_advisory_xact_lock_1
