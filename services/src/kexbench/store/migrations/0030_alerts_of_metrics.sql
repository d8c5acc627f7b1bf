-- What became more. Alerts of upgrades from before there were others are of CPU time.
ALTER TABLE alert_events
    ADD COLUMN IF NOT EXISTS metric LowCardinality(String) DEFAULT if(kind = 'upgrade', 'cpu_ns', '')
    COMMENT 'of the first event of an upgrade, else empty' AFTER library;
