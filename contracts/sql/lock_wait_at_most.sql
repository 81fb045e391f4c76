-- $1 patience
SELECT set_config('lock_timeout', $1::VARCHAR, true) AS set_config_1
