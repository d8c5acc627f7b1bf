-- Alerts, which are sequences of events; and what the analysis came to about runs that ended.

CREATE TABLE alert_events
(
    alert_id  String,
    number    UInt32,
    at        DateTime64(3, 'UTC'),
    action    LowCardinality(String),
    until     Nullable(DateTime64(3, 'UTC')) COMMENT 'of one that is ignored: when it is open again',
    kind      LowCardinality(String) COMMENT 'of the first event, else empty',
    library   LowCardinality(String) COMMENT 'of the first event of an upgrade, else empty',
    content   String CODEC(ZSTD(3)) COMMENT 'the event as JSON'
)
ENGINE = $REPLACING
ORDER BY (alert_id, number);

CREATE TABLE judgements
(
    run_id         String,
    at             DateTime64(3, 'UTC'),
    ended_at       DateTime64(3, 'UTC') COMMENT 'when the run had ended, as it was judged',
    upgrades       Array(String) COMMENT 'hashes of the pairs of subjects',
    confirmations  Array(String) COMMENT 'runs that it waits for',
    content        String CODEC(ZSTD(3)) COMMENT 'the judgement as JSON'
)
ENGINE = $REPLACING
ORDER BY (run_id, at);

-- Empty and false of runs from before there were alerts.

ALTER TABLE runs
    ADD COLUMN IF NOT EXISTS trigger LowCardinality(String);

ALTER TABLE runs
    ADD COLUMN IF NOT EXISTS watched Bool COMMENT 'whether it may raise alerts';
