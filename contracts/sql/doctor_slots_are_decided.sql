SELECT headway.schedule.id
FROM headway.schedule
WHERE headway.schedule.broken IS NOT NULL AND headway.schedule.enabled
