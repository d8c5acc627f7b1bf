-- Bisections: what was asked, the commits that are searched, and what somebody wanted or it came to.

CREATE TABLE bisections
(
    bisection_id  String,
    asked_at      DateTime64(3, 'UTC'),
    content       String CODEC(ZSTD(3)) COMMENT 'the bisection as JSON'
)
ENGINE = $REPLACING
ORDER BY (asked_at, bisection_id);

CREATE TABLE bisection_lines
(
    bisection_id  String,
    content       String CODEC(ZSTD(3)) COMMENT 'the line of commits as JSON'
)
ENGINE = $REPLACING
ORDER BY bisection_id;

CREATE TABLE bisection_events
(
    bisection_id  String,
    at            DateTime64(3, 'UTC'),
    kind          LowCardinality(String),
    content       String CODEC(ZSTD(3)) COMMENT 'the event as JSON'
)
ENGINE = $REPLACING
ORDER BY (bisection_id, at, kind);

-- References of the kits whose sources do not build, of runs that failed for that.

ALTER TABLE run_events
    ADD COLUMN IF NOT EXISTS unbuilt Array(String);
