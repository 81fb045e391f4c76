SELECT pg_advisory_xact_lock(hashtextextended('headway triggers', 0)) AS pg_advisory_xact_lock_1
