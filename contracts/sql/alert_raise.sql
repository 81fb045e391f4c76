-- $1 at
-- $2 id
-- $3 tenant
-- $4 kind
-- $5 subject
-- $6 definition
-- $7 run
-- $8 message
-- $9 dedupe_key
INSERT INTO headway.alert (id, tenant, kind, subject, definition, run, message, dedupe_key, at, next_look_at) SELECT a.id, a.tenant, a.kind, a.subject, a.definition, a.run, a.message, a.dedupe_key, $1::TIMESTAMP WITH TIME ZONE AS anon_1, $1::TIMESTAMP WITH TIME ZONE AS anon_2
FROM unnest($2::UUID[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::UUID[], $8::TEXT[], $9::TEXT[]) AS a(id, tenant, kind, subject, definition, run, message, dedupe_key) ORDER BY a.dedupe_key ON CONFLICT (dedupe_key) DO NOTHING
