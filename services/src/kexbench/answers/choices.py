"""What else could be chosen where something was chosen."""

from collections.abc import Iterable
from datetime import datetime

from kexbench.answers.shapes import RunChoice
from kexbench.store.port import (
    AppearanceRow,
)

MOST_RUNS = 100
"""Runs to choose from. Older ones are found on the page of runs."""


def run_choices(rows: Iterable[AppearanceRow]) -> list[RunChoice]:
    """The runs of some appearances, the last ones first."""
    measured_at: dict[str, datetime] = {}
    for row in rows:
        measured_at[row.run_id] = max(row.measured_at, measured_at.get(row.run_id, row.measured_at))
    newest = sorted(measured_at.items(), key=lambda item: (item[1], item[0]), reverse=True)
    return [RunChoice(run_id=run_id, measured_at=at) for run_id, at in newest[:MOST_RUNS]]
