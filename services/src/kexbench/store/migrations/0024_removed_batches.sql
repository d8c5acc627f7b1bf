-- What is kept of batches that were removed (store/pruning.py). Their row is replaced by one without values.
ALTER TABLE samples
    ADD COLUMN IF NOT EXISTS kept Array(Tuple(subject LowCardinality(String), mean Int32, median Int32)) CODEC(ZSTD(1))
        COMMENT 'log ratios to other subjects of the invocation over its rounds, in steps of 1e-8' AFTER `values`,
    ADD COLUMN IF NOT EXISTS pruned_at DateTime64(3, 'UTC')
        COMMENT 'when batches were removed, or were found to be needed' AFTER kept;

-- Merged parts leave the disk at once: new parts are on the disk before (0014), so the old ones protect nothing.
ALTER TABLE samples MODIFY SETTING old_parts_lifetime = 1;
