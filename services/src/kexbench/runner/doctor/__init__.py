"""Checks whether this machine is suitable for measurements: facts from /sys and /proc, a short test, and advice."""
