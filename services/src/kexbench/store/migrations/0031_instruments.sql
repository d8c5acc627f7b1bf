-- Profiles of other instruments than callgrind. The content of older ones names their amounts instructions, which readers know.
ALTER TABLE profiles
    ADD COLUMN IF NOT EXISTS instrument LowCardinality(String) DEFAULT 'instructions' AFTER measured_at,
    RENAME COLUMN IF EXISTS instructions TO amount;
