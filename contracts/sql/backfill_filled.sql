-- $1 of
-- $2 after
-- $3 until
SELECT headway.backfill.slot_at
FROM headway.backfill
WHERE headway.backfill.schedule = $1::UUID AND headway.backfill.slot_at > $2::TIMESTAMP WITH TIME ZONE AND headway.backfill.slot_at <= $3::TIMESTAMP WITH TIME ZONE
