-- What the store has acknowledged is on the disk: every insert and every merge waits for it. A part that a power cut has
-- damaged all the same is set aside however many there are, so that the store opens and can say what it lost.

ALTER TABLE schema_migrations
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE runs
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE run_events
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE samples
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE outcomes
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE invocations
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE attempts
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE schedules
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE commits
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE followed
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE bisections
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE bisection_lines
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE bisection_events
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE alert_events
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE judgements
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE notifications
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;

ALTER TABLE sendings
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
                   min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 1000000,
                   max_suspicious_broken_parts_bytes = 1000000000000;
