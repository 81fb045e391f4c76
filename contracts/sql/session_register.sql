-- $1 session
-- $2 kind
-- $3 host
-- $4 pid
-- $5 lease
-- $6 queues
-- $7 handlers
-- $8 capacity
-- $9 version
INSERT INTO headway.session (id, kind, host, pid, state, started_at, lease_until, queues, handlers, capacity, version) VALUES ($1::UUID, $2::VARCHAR, $3::VARCHAR, $4::INTEGER, 1, headway.headway_now(), (headway.headway_now() + $5::INTERVAL), $6::TEXT[], $7::TEXT[], $8::INTEGER, $9::VARCHAR)
