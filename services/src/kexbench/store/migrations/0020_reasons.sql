-- Why a run is in its state, as a value: until now it was told in words alone, and in the references of kits whose
-- sources do not build.
ALTER TABLE run_events
    ADD COLUMN IF NOT EXISTS reason LowCardinality(String),
    ADD COLUMN IF NOT EXISTS about Array(String);

ALTER TABLE run_events
    UPDATE reason = 'does not build', about = unbuilt WHERE notEmpty(unbuilt) SETTINGS mutations_sync = 2;
