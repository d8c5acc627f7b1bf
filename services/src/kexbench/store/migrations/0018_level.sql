-- The median of batches leaves out what only some of them pay, such as new RSA blinding every 32 operations. A level holds it:
-- what an invocation's handshakes cost by their number. Of results from before, the number of a batch's handshakes is
-- what its cost says: a batch ended with the first handshake after two milliseconds, and had three at least.

ALTER TABLE samples
    ADD COLUMN IF NOT EXISTS level Float64 DEFAULT if(
        metric IN ('cpu_ns', 'client_cpu_ns', 'server_cpu_ns', 'wall_ns', 'elapsed_ns') AND arrayMin(values) > 0,
        arraySum(arrayMap(value -> value * greatest(3, ceil(2000000 / value)), values))
            / arraySum(arrayMap(value -> greatest(3, ceil(2000000 / value)), values)),
        median)
    COMMENT 'what a handshake cost over all batches, in the unit of the metric' AFTER n;
