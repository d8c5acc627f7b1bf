"""Measures one job on this machine in a separate process: starts workers, gives them turns, writes invocations."""
