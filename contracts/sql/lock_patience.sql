SELECT current_setting('lock_timeout') AS current_setting_1
