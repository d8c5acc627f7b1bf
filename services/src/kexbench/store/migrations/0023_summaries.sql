-- One row for each cell of a run: a subject in a case on a host, and a metric. Pages find the newest run of a cell here,
-- without reading its samples. Rows with an empty metric stand for outcomes. The store fills both tables from samples,
-- also after a kill (store/summaries.py).
CREATE TABLE summaries
(
    metric               LowCardinality(String) COMMENT 'empty for outcomes',
    pool                 LowCardinality(String),
    host_id              LowCardinality(String),
    cpu_model            LowCardinality(String),
    protocol             LowCardinality(String),
    key_exchange         LowCardinality(String),
    rsa_bits             UInt16,
    curve                LowCardinality(String),
    `group`              LowCardinality(String),
    cipher               LowCardinality(String),
    variation            LowCardinality(String),
    case_id              LowCardinality(String),
    library              LowCardinality(String),
    version_key          LowCardinality(String),
    version              LowCardinality(String),
    source               LowCardinality(String),
    build_profile        LowCardinality(String),
    build_profile_label  LowCardinality(String),
    kit_id               LowCardinality(String),
    `commit`             String,
    reference            LowCardinality(String),
    run_id               String,
    measured_at          DateTime64(3, 'UTC') COMMENT 'of the newest counted invocation',
    counted              Array(Tuple(unit String, measured_at DateTime64(3, 'UTC'))) CODEC(ZSTD(1))
        COMMENT 'the counted invocations, empty if none counts any more'
)
ENGINE = $REPLACING
ORDER BY (metric, pool, host_id, cpu_model, case_id, library, version_key, source, build_profile, kit_id, reference,
          run_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;

-- Which invocations the summaries of a run and case hold. Written after them: where it differs from the invocations, a
-- kill came in between.
CREATE TABLE summarised
(
    run_id    String,
    case_id   LowCardinality(String),
    checksum  UInt64 COMMENT 'of the counted invocations'
)
ENGINE = $REPLACING
ORDER BY (run_id, case_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;
