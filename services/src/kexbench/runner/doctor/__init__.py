"""How fit this machine is to measure on: facts from /sys and /proc, a short look at it running, and advice."""
