-- Tokens that administrators made, without their secrets. A token with a row that says so is revoked for good.
CREATE TABLE tokens
(
    token_id       String,
    revoked        UInt8,
    created_at     DateTime64(3, 'UTC'),
    secret_sha256  String COMMENT 'of the 32 random bytes of its secret, both in hexadecimal digits',
    content        String CODEC(ZSTD(3)) COMMENT 'who made it for whom, in which role and until when, as JSON'
)
ENGINE = $REPLACING
ORDER BY (token_id, revoked)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;
