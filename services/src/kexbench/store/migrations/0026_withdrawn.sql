-- Earlier releases stored the heap of up to 16 open connections as that of one. How many they were was not stored, so
-- these numbers cannot be corrected. They are kept here, where pages, comparisons and exports do not read them.
CREATE TABLE withdrawn
(
    run_id      String,
    metric      LowCardinality(String),
    case_id     LowCardinality(String),
    job_id      String,
    invocation  UInt32,
    attempt     UInt16,
    reference   LowCardinality(String) COMMENT 'the subject as the plan names it',
    value       Float64 COMMENT 'as it was stored'
)
ENGINE = $REPLACING
ORDER BY (run_id, metric, case_id, job_id, invocation, attempt, reference)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;

INSERT INTO withdrawn (run_id, metric, case_id, job_id, invocation, attempt, reference, value)
SELECT run_id, metric, case_id, job_id, invocation, attempt, reference, level
FROM samples FINAL WHERE metric IN ('client_held_bytes', 'server_held_bytes');

ALTER TABLE samples DELETE WHERE metric IN ('client_held_bytes', 'server_held_bytes')
SETTINGS mutations_sync = 2;

ALTER TABLE summaries DELETE WHERE metric IN ('client_held_bytes', 'server_held_bytes')
SETTINGS mutations_sync = 2;
