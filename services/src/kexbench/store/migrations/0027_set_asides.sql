-- Nodes that somebody set aside: their results from some time on count nowhere, until the node is returned.
ALTER TABLE attempts
    ADD COLUMN IF NOT EXISTS node LowCardinality(String) DEFAULT JSONExtractString(content, 'node');

ALTER TABLE attempts MATERIALIZE COLUMN node SETTINGS mutations_sync = 2;

-- Changes; the newest one of a node is what it is now.
CREATE TABLE set_asides
(
    pool     LowCardinality(String),
    node     LowCardinality(String),
    number   UInt32,
    content  String CODEC(ZSTD(3)) COMMENT 'the change as JSON'
)
ENGINE = $REPLACING
ORDER BY (pool, node, number)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;

-- The attempts of such nodes. The store fills it from set_asides and attempts, also after a kill (store/fleet.py).
CREATE TABLE aside_attempts
(
    run_id   String,
    job_id   String,
    attempt  UInt16,
    since    DateTime64(3, 'UTC') COMMENT 'its invocations from this time on do not count',
    reason   String COMMENT 'for people'
)
ENGINE = $REPLACING
ORDER BY (run_id, job_id, attempt)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;

CREATE OR REPLACE VIEW counted_invocations AS
SELECT run_id, job_id, case_id, invocation, min(attempt) AS attempt
FROM invocations AS each
WHERE (each.run_id, each.job_id, each.case_id, each.invocation, each.attempt) NOT IN
    (SELECT run_id, job_id, case_id, invocation, attempt FROM invocations
     INNER JOIN (SELECT run_id, job_id, attempt, since FROM aside_attempts FINAL) AS aside USING (run_id, job_id, attempt)
     WHERE run_id IN (SELECT run_id FROM aside_attempts) AND measured_at >= since)
GROUP BY run_id, job_id, case_id, invocation;
