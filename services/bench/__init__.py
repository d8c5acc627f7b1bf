"""`make bench`: what measuring costs and what it can detect on this machine, written to docs/benchmarks.md."""
