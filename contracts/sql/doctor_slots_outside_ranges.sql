SELECT headway.slot.schedule
FROM headway.slot JOIN headway.slot_range ON headway.slot_range.schedule = headway.slot.schedule AND headway.slot.slot_at > headway.slot_range.from_at AND headway.slot.slot_at <= headway.slot_range.to_at
