-- Counted instructions by function. Written before the invocation's own row, without which they do not count.
CREATE TABLE profiles
(
    library              LowCardinality(String),
    cpu_model            LowCardinality(String),
    pool                 LowCardinality(String),
    protocol             LowCardinality(String),
    key_exchange         LowCardinality(String),
    rsa_bits             UInt16,
    curve                LowCardinality(String),
    `group`              LowCardinality(String),
    cipher               LowCardinality(String),
    variation            LowCardinality(String),
    case_id              LowCardinality(String),
    version_key          LowCardinality(String),
    version              LowCardinality(String),
    source               LowCardinality(String),
    build_profile        LowCardinality(String),
    build_profile_label  LowCardinality(String),
    kit_id               String,
    `commit`             String,
    reference            LowCardinality(String),
    host_id              String,
    run_id               String,
    job_id               String,
    invocation           UInt32,
    attempt              UInt16,
    measured_at          DateTime64(3, 'UTC'),
    side                 LowCardinality(String),
    instructions         Float64 COMMENT 'of the side, in one handshake',
    content              String CODEC(ZSTD(9)) COMMENT 'the profile as JSON'
)
ENGINE = $REPLACING
ORDER BY (library, case_id, version_key, run_id, job_id, invocation, attempt, reference, side)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000, $DEDUPLICATION_WINDOW = 10000;
