"""`make bench`: measures the overhead and the resolution of kexbench on this machine. Writes
docs/results/benchmarks.md."""
