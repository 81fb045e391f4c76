-- $1 now
-- $2 actor
-- $3 tzdata
-- $4 schedule
-- $5 slot_at
-- $6 decision
-- $7 reason
-- $8 detail
-- $9 effective_at
-- $10 run
-- $11 schedule_version
-- $12 calendar_versions
INSERT INTO headway.slot (schedule, slot_at, decision, reason, detail, effective_at, run, schedule_version, calendar_versions, decided_at, decided_by, tzdata_version) SELECT s.schedule, s.slot_at, s.decision, s.reason, s.detail, s.effective_at, s.run, s.schedule_version, s.calendar_versions, $1::TIMESTAMP WITH TIME ZONE AS anon_1, $2::VARCHAR AS anon_2, $3::VARCHAR AS anon_3
FROM unnest($4::UUID[], $5::TIMESTAMP WITH TIME ZONE[], $6::SMALLINT[], $7::TEXT[], $8::TEXT[], $9::TIMESTAMP WITH TIME ZONE[], $10::UUID[], $11::INTEGER[], $12::TEXT[]) AS s(schedule, slot_at, decision, reason, detail, effective_at, run, schedule_version, calendar_versions)
