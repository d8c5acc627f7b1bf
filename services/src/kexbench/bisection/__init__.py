"""The search for the commit of a library that changed what handshakes cost, as a question and its runs.

Start at `advancing.py` (docs/adr/0014).

- `advancing.py`: the next run of each open bisection.
- `known.py`: what is stored about a bisection, and the results of its runs.
- `models.py`, `views.py`: requests and responses, and how they are made.
"""
