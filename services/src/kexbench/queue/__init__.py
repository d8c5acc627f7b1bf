"""Queued runs: planned, announced, claimed and cancelled.

Start at `runs.py`.

- `runs.py`, `cancelling.py`: a run is planned, announced once, and claimed or cancelled.
- `schedules.py`: runs of schedules; `supplies.py`: what queued runs are supplied with.
- `controls.py`, `progress.py`: the requests that a run allows in its state, and how far it is.
- `streams.py`: the streams by which pages follow runs (docs/adr/0040).
- `nodes.py`: people set nodes aside, to which no job is sent, and return them.
- `traced.py`: the states of a run as spans of its trace.
- `troubles.py`: faults of background loops.
"""
