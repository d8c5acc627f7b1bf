-- What reading the workers' clocks cost, measured when they started.

ALTER TABLE invocations
    ADD COLUMN IF NOT EXISTS timers String DEFAULT '{}' COMMENT 'JSON, by subject';
