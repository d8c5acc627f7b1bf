-- A table has the word that pages, the API and the code use for its rows. It is copied, not renamed: each statement can
-- run again, also in a store that lost its list of migrations.
CREATE TABLE screenings
(
    run_id         String,
    at             DateTime64(3, 'UTC'),
    ended_at       DateTime64(3, 'UTC') COMMENT 'when the run had ended, as it was screened',
    upgrades       Array(String) COMMENT 'hashes of the pairs of subjects',
    confirmations  Array(String) COMMENT 'confirmation runs that it waits for',
    content        String CODEC(ZSTD(3)) COMMENT 'the screening as JSON'
)
ENGINE = $REPLACING
ORDER BY (run_id, at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
         min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
         max_suspicious_broken_parts_bytes = 1000000000000;

CREATE TABLE judgements AS screenings;

INSERT INTO screenings SELECT run_id, at, ended_at, upgrades, confirmations, content FROM judgements;

DROP TABLE IF EXISTS judgements;
