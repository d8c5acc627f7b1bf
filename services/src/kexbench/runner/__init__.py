"""Measures one job on this machine, in a process of its own: starts workers, passes tokens, writes invocations."""
