-- The order in which the store got the events of a run or a bisection: their state is the newest in this order. Clocks
-- tell when something happened, and may be wrong. Events from before have 0 and keep the order of their times.

ALTER TABLE run_events
    ADD COLUMN IF NOT EXISTS number UInt32;

ALTER TABLE bisection_events
    ADD COLUMN IF NOT EXISTS number UInt32;
