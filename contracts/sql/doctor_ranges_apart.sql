SELECT headway.slot_range.schedule
FROM headway.slot_range
WHERE EXISTS (SELECT *
FROM headway.slot_range AS other
WHERE other.schedule = headway.slot_range.schedule AND other.from_at > headway.slot_range.from_at AND other.from_at < headway.slot_range.to_at)
