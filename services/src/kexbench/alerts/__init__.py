"""Alerts: screening of ended runs, confirmation runs, recoveries and stale specs.

Start at `analyst.py`.

- `analyst.py`: the steps after each run; `judging.py`: the thread that does them.
- `screening.py`, `suspicions.py`: what the upgrades of a run make suspect, and the decisions from numbers alone.
- `histories.py`: changes of level that no single comparison resolves.
- `confirming.py`: from a suspicion to an alert, by a run of its own (docs/adr/0016).
- `explaining.py`: has a run count why; `fixing.py`: whether a later version recovered.
- `staleness.py`: specs without recent results; `replaying.py`: what a rule would have suspected in stored runs.
- `reading.py`, `changing.py`: alerts as people read them, and what people do to them.
- `events.py`: the only place that writes events of alerts.
"""
