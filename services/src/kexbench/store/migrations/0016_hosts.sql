-- Hosts that something was measured on, each with its comparable identity: the release that reads works it out from
-- the facts, so that it holds for rows of all releases. `cpu_model` of samples and outcomes only sorts them from here on.

CREATE TABLE hosts
(
    host_id  String,
    kind     String COMMENT 'equal for hosts whose numbers may be compared, in one pool',
    facts    String CODEC(ZSTD(3)) COMMENT 'JSON'
)
ENGINE = $REPLACING
ORDER BY host_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;
