"""`make bench`: what the measuring itself costs and what it can detect, on this machine, written to docs/benchmarks.md."""
