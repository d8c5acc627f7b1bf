"""Where runs, events and invocations are kept: one port, one adapter for two engines."""
