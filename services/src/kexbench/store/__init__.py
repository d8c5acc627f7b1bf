"""Stores runs, events and invocations: one port, one adapter for two engines."""
