-- $1 now
-- $2 actor
-- $3 tzdata
-- $4 schedule
-- $5 from_at
-- $6 to_at
-- $7 decision
-- $8 reason
-- $9 detail
-- $10 slots
-- $11 schedule_version
-- $12 calendar_versions
INSERT INTO headway.slot_range (schedule, from_at, to_at, decision, reason, detail, slots, schedule_version, calendar_versions, decided_at, decided_by, tzdata_version) SELECT r.schedule, r.from_at, r.to_at, r.decision, r.reason, r.detail, r.slots, r.schedule_version, r.calendar_versions, $1::TIMESTAMP WITH TIME ZONE AS anon_1, $2::VARCHAR AS anon_2, $3::VARCHAR AS anon_3
FROM unnest($4::UUID[], $5::TIMESTAMP WITH TIME ZONE[], $6::TIMESTAMP WITH TIME ZONE[], $7::SMALLINT[], $8::TEXT[], $9::TEXT[], $10::BIGINT[], $11::INTEGER[], $12::TEXT[]) AS r(schedule, from_at, to_at, decision, reason, detail, slots, schedule_version, calendar_versions)
