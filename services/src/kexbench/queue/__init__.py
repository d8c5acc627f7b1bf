"""Queued runs: planned, announced, claimed and cancelled."""
