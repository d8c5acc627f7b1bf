-- Tries at jobs on a cluster, each with the machine that it ran on.
-- `cpu_model` of samples and outcomes holds the microcode too from here on, where it is known.

CREATE TABLE attempts
(
    run_id      String,
    job_id      String,
    attempt     UInt16,
    host_id     String,
    started_at  DateTime64(3, 'UTC'),
    content     String CODEC(ZSTD(3)) COMMENT 'the attempt as JSON: host, isolation, node and pod'
)
ENGINE = $REPLACING
ORDER BY (run_id, job_id, attempt);
