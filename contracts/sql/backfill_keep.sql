-- $1 of
-- $2 now
-- $3 actor
-- $4 slots
-- $5 runs
INSERT INTO headway.backfill (schedule, slot_at, run, asked_at, asked_by) SELECT $1::UUID AS anon_1, n.slots, n.runs, $2::TIMESTAMP WITH TIME ZONE AS anon_2, $3::VARCHAR AS anon_3
FROM unnest($4::TIMESTAMP WITH TIME ZONE[], $5::UUID[]) AS n(slots, runs)
