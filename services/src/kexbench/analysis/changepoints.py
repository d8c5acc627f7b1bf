"""Changes of level in a history, such as those of a new version.

The stages: the noise of each point and candidate places (changepoints_screen.py), the steps among them
(changepoints_fit.py), their exact places (changepoints_place.py) and transients (changepoints_transients.py). This file
decides which steps are reported.
docs/understand/statistics/change-points.md describes the method, with its sources.
"""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.changepoints_fit import steps_of
from kexbench.analysis.changepoints_place import better_places
from kexbench.analysis.changepoints_screen import (
    middle,
    noise_of,
    places_of,
    without_spikes,
    worth_fitting,
)
from kexbench.analysis.changepoints_transients import bursts_of, sizes_of, slopes_of, switches_of
from kexbench.analysis.rounds import Vector
from kexbench.domain.verdicts import RELEVANT

ANNOTATE, ALERT = 5.5, 7.0
"""The standard errors that a step needs to be shown in a chart, and to raise a suspicion."""
LEAST_POINTS = 4
"""The noise of a shorter history cannot be estimated, so it has no changes."""
LEAST_AFTER = 3
"""A change at the last two points is left to the comparison of versions: two outliers in a row are common."""
PART_POINTS = 10
"""The largest distance between the parts of one change."""
_GRAIN = 1e-9


@dataclass(frozen=True)
class ChangePoint:
    """The index of the first value after the change, the ratio of the level after to that before, and the step in
    standard errors, negative if the level fell."""

    index: int
    ratio: float
    z: float


def change_points(
    values: Sequence[float],
    *,
    errors: Sequence[float] | None = None,
    resets: Collection[int] = (),
    strict: bool = False,
) -> list[ChangePoint]:
    """The changes of level in a history of positive values, in order.

    `errors` are the standard errors of the values, if replicates provide them. `resets` are the indices of the first
    values on another host or harness: nothing is compared across them. `strict` is the level of alerts. ValueError if a
    value is not above zero, with its place.
    """
    series = _checked(values)
    uncertain = None if errors is None else _relative(errors, series)
    logs = np.log(series)
    edges = [0, *sorted({index for index in resets if 0 < index < len(series)}), len(series)]
    return [
        change
        for begin, end in itertools.pairwise(edges)
        for change in _of_piece(logs[begin:end], None if uncertain is None else uncertain[begin:end], strict, begin)
    ]


def _of_piece(logs: Vector, errors: "Vector | None", strict: bool, begin: int) -> list[ChangePoint]:
    if len(logs) < LEAST_POINTS:
        return []
    # Rounded, so that the same history in another unit gives identical results.
    logs = np.round((logs - logs[0]) / _GRAIN) * _GRAIN
    noise = noise_of(logs, errors)
    calm = without_spikes(logs, noise)
    places = places_of(calm, noise)
    if not (clear := worth_fitting(calm, noise, places)):
        return []
    steps = steps_of(calm, noise, clear)
    if steps.memory:  # the places were dropped for noise without memory, so fit all of them
        steps = steps_of(calm, noise, places)
    at = better_places(logs, steps.places)
    sizes = sizes_of(logs, at)
    drifting, bursts = slopes_of(calm, at), bursts_of(logs, at, sizes)
    transient = drifting | bursts | switches_of(sizes, middle(noise))
    level = ALERT if strict else ANNOTATE
    changes = [
        ChangePoint(begin + place, math.exp(size), z)
        for number, (place, z, size) in enumerate(zip(at, steps.z, sizes, strict=True))
        if len(logs) - place >= LEAST_AFTER and abs(z) >= level and abs(size) >= RELEVANT and number not in transient
    ]
    return [change for change in changes if not any(_is_part(change, other) for other in changes)]


def _is_part(change: ChangePoint, other: ChangePoint) -> bool:
    """Whether a change too weak for an alert is only the beginning or end of a larger change."""
    first, second = math.log(change.ratio), math.log(other.ratio)
    near, same_way = abs(change.index - other.index) < PART_POINTS, first * second > 0
    return near and same_way and abs(first) < abs(second) and abs(change.z) < ALERT


def _checked(values: Sequence[float]) -> Vector:
    series = np.asarray(values, dtype=float)
    if series.ndim != 1:
        raise ValueError("a history must be one list of numbers")
    if len(invalid := np.flatnonzero(~(np.isfinite(series) & (series > 0)))):
        raise ValueError(f"value {invalid[0] + 1} is {series[invalid[0]]:g}: values must be finite and above zero")
    return series


def _relative(errors: Sequence[float], series: Vector) -> Vector:
    uncertain = np.asarray(errors, dtype=float)
    if uncertain.shape != series.shape:
        raise ValueError(f"{len(uncertain)} errors for {len(series)} values")
    if len(invalid := np.flatnonzero(~(np.isfinite(uncertain) & (uncertain >= 0)))):
        raise ValueError(f"error {invalid[0] + 1} is {uncertain[invalid[0]]:g}: errors must be finite, 0 or more")
    return uncertain / series
