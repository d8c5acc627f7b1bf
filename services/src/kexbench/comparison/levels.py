"""A history of levels, one a version, and where it changed: of a case on a host kind in one build profile."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kexbench.analysis.changepoints import LEAST_POINTS, ChangePoint, change_points
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.store.port import LevelRow, SentinelLevel

_ERROR_OF_A_MEDIAN = float(np.sqrt(np.pi / 2))
"""Of normal noise, in standard errors of the mean."""


@dataclass(frozen=True)
class Changes:
    found: list[ChangePoint]
    through_sentinel: bool
    """They were looked for in costs relative to the sentinel: what the machine did is not among them."""


def lines_of(rows: Sequence[LevelRow]) -> list[list[LevelRow]]:
    """Rows arrive in version order, so lines keep it."""
    found: dict[tuple[str, str, str], list[LevelRow]] = defaultdict(list)
    for row in rows:
        found[row.case_id, row.subject.library, row.subject.build_profile].append(row)
    return list(found.values())


def changes_of(line: Sequence[LevelRow], harness: Mapping[str, int], *, strict: bool = False) -> Changes:
    """Where a line's level changed; not looked for in fewer than four points, nor where a value is zero, which has no
    ratio to anything.

    Points of different nights differ by what the machine did in between, so where every point has the sentinel beside
    it, its level is that relative to the sentinel, and so is what its node differs by from others of its kind. Another
    harness or sentinel begins anew; another kind of host has a line of its own.
    """
    relative = [row.to_sentinel for row in line if row.to_sentinel]
    through = len(relative) == len(line)
    points: Sequence[LevelRow | SentinelLevel] = relative if through else line
    if len(line) < LEAST_POINTS or min(point.level for point in points) <= 0:
        return Changes([], through_sentinel=False)
    resets = {place for place, pair in enumerate(pairwise(line), start=1) if not _alike(*pair, harness)}
    if through:
        resets |= {place for place, pair in enumerate(pairwise(relative), start=1) if pair[0].kit_id != pair[1].kit_id}
    levels = [point.level for point in points]
    return Changes(change_points(levels, errors=_errors(points), resets=resets, strict=strict), through)


def _errors(points: Sequence[LevelRow | SentinelLevel]) -> list[float] | None:
    """None where a point has too few invocations to tell how they scatter."""
    if any(point.invocations < MIN_COMPARED_INVOCATIONS for point in points):
        return None
    return [_ERROR_OF_A_MEDIAN * point.spread / point.invocations**0.5 for point in points]


def _alike(first: LevelRow, second: LevelRow, harness: Mapping[str, int]) -> bool:
    """Whether two points were measured in the same way."""
    return harness.get(first.run_id) == harness.get(second.run_id)
