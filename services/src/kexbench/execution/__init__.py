"""Runs the jobs of a plan on this machine, one after the other."""
