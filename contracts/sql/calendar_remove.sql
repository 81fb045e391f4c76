-- $1 calendar
DELETE FROM headway.calendar WHERE headway.calendar.id = $1::UUID
