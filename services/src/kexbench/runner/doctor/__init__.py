"""Checks whether this machine is suitable for measurements: facts from /sys and /proc, a short test, and advice.

- `examine.py`: reads the facts, observes the machine for a second, and checks both. Start here.
- `machine.py`, `watching.py`: the facts, and the short test; `path_probe.py`: whether paths can be emulated.
- `processor.py`, `system.py`: advice on the processor, and on everything else; `check.py`: one check as shown.
"""
