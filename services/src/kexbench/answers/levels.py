"""Series of levels, one per version, and their changes: of a case on a host kind in one build profile."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kexbench.analysis.changepoints import LEAST_POINTS, ChangePoint, change_points
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.store.port import LevelRow, SentinelLevel

_ERROR_OF_A_MEDIAN = float(np.sqrt(np.pi / 2))
"""For normal noise, in standard errors of the mean."""


@dataclass(frozen=True)
class Changes:
    change_points: list[ChangePoint]
    through_sentinel: bool
    """The costs were relative to the sentinel, so changes of the machine are excluded."""


def lines_of(rows: Sequence[LevelRow]) -> list[list[LevelRow]]:
    """The series of some rows, which arrive in version order."""
    series: dict[tuple[str, str, str], list[LevelRow]] = defaultdict(list)
    for row in rows:
        series[row.case_id, row.subject.library, row.subject.build_profile].append(row)
    return list(series.values())


def changes_of(series: Sequence[LevelRow], harness: Mapping[str, int], *, strict: bool = False) -> Changes:
    """Where the level of a series changed. None are searched with fewer than four points, or if a value is zero, which
    has no ratio.

    Points of different days contain changes of the machine. If every point has the sentinel, the levels relative to it
    are used, which also excludes differences between nodes of a kind. Another harness or sentinel restarts the series.
    """
    relative = [row.to_sentinel for row in series if row.to_sentinel]
    through = len(relative) == len(series)
    points: Sequence[LevelRow | SentinelLevel] = relative if through else series
    if len(series) < LEAST_POINTS or min(point.level for point in points) <= 0:
        return Changes([], through_sentinel=False)
    resets = {place for place, pair in enumerate(pairwise(series), start=1) if not _alike(*pair, harness)}
    if through:
        resets |= {place for place, pair in enumerate(pairwise(relative), start=1) if pair[0].kit_id != pair[1].kit_id}
    levels = [point.level for point in points]
    return Changes(change_points(levels, errors=_errors(points), resets=resets, strict=strict), through)


def _errors(points: Sequence[LevelRow | SentinelLevel]) -> list[float] | None:
    """None if a point has too few invocations to estimate its error."""
    if any(point.invocations < MIN_COMPARED_INVOCATIONS for point in points):
        return None
    return [_ERROR_OF_A_MEDIAN * point.spread / point.invocations**0.5 for point in points]


def _alike(first: LevelRow, second: LevelRow, harness: Mapping[str, int]) -> bool:
    """Whether two points were measured in the same way."""
    return harness.get(first.run_id) == harness.get(second.run_id)
