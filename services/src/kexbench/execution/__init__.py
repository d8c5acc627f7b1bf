"""Runs the jobs of a plan: here on this machine, one after the other."""
