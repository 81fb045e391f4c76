-- $1 tenant
-- $2 actor
-- $3 action
-- $4 subject
-- $5 reason
-- $6 old
-- $7 new
INSERT INTO headway.audit (at, tenant, actor, action, subject, reason, "old", "new") VALUES (headway.headway_now(), $1::VARCHAR, $2::VARCHAR, $3::VARCHAR, $4::VARCHAR, $5::VARCHAR, $6::JSONB, $7::JSONB) RETURNING headway.audit.id
