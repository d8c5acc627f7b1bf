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
    run_id   String,
    at       DateTime64(3, 'UTC'),
    content  String CODEC(ZSTD(3)) COMMENT 'the judgement as JSON'
)
ENGINE = $REPLACING
ORDER BY (run_id, at);
