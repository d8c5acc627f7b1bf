-- The pool that a try at a job ran in, so that its nodes are known. Tries of earlier releases name none.

ALTER TABLE attempts
    ADD COLUMN IF NOT EXISTS pool LowCardinality(String);
