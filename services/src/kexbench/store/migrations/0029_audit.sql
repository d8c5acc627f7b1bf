-- What people and their programs wrote or were refused. No request's content, and no secret.
CREATE TABLE audit
(
    at        DateTime64(3, 'UTC'),
    entry_id  String,
    content   String CODEC(ZSTD(3)) COMMENT 'the entry as JSON'
)
ENGINE = $REPLACING
ORDER BY (at, entry_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;
