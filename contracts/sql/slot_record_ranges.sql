-- $1 now
-- $2 actor
-- $3 tzdata
-- $4 schedule
-- $5 from_at
-- $6 to_at
-- $7 decision
-- $8 reason
-- $9 slots
-- $10 schedule_version
INSERT INTO headway.slot_range (schedule, from_at, to_at, decision, reason, slots, schedule_version, decided_at, decided_by, tzdata_version) SELECT r.schedule, r.from_at, r.to_at, r.decision, r.reason, r.slots, r.schedule_version, $1::TIMESTAMP WITH TIME ZONE AS anon_1, $2::VARCHAR AS anon_2, $3::VARCHAR AS anon_3
FROM unnest($4::UUID[], $5::TIMESTAMP WITH TIME ZONE[], $6::TIMESTAMP WITH TIME ZONE[], $7::SMALLINT[], $8::TEXT[], $9::BIGINT[], $10::INTEGER[]) AS r(schedule, from_at, to_at, decision, reason, slots, schedule_version)
