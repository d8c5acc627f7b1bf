"""Two programs that took turns: the median of each, and of the turns' ratios, since a CPU's speed may change."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple


class Medians(NamedTuple):
    """The first two in the unit of what was measured."""

    theirs: float
    ours: float
    ratio: float


def medians(turns: Sequence[tuple[float, float]]) -> Medians:
    """`turns`: theirs and ours, at least one."""
    theirs, ours = (median(values) for values in zip(*turns, strict=True))
    return Medians(theirs, ours, median(_ratio(*turn) for turn in turns))


def _ratio(theirs: float, ours: float) -> float:
    if ours == theirs:
        return 1.0  # of what neither has as well
    return ours / theirs if theirs else float("inf")
