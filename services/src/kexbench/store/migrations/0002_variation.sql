-- What a case has beyond the six first dimensions, such as threads or a resumption. It belongs to what makes a row
-- another one: without it in the order, cases that differ only there would replace each other.
-- A column can join the sorting key only in the statement that adds it, and without a default of its own, so that
-- old rows need no sorting.

ALTER TABLE samples
    ADD COLUMN IF NOT EXISTS variation LowCardinality(String) COMMENT 'JSON, empty where there is none',
    MODIFY ORDER BY (metric, library, cpu_model, pool, protocol, key_exchange, rsa_bits, curve, `group`, cipher,
                     version_key, run_id, job_id, invocation, attempt, reference, variation);

ALTER TABLE outcomes
    ADD COLUMN IF NOT EXISTS variation LowCardinality(String) COMMENT 'JSON, empty where there is none',
    MODIFY ORDER BY (run_id, job_id, case_id, invocation, attempt, reference, variation);
