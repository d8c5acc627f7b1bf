-- Whether a run answers a question of its own: its numbers are no part of any overview. Runs from before are known by
-- their triggers alone.

ALTER TABLE runs
    ADD COLUMN IF NOT EXISTS aside Bool
    DEFAULT JSONExtractString(run, 'trigger') IN ('bisection', 'backfill');
