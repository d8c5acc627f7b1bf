"""Where the level of a history changed: a new version's cost, in the first place.

Each point's noise and the places worth a look (changepoints_screen.py), the steps among them (changepoints_fit.py),
where exactly they are (changepoints_place.py), those that pass by themselves (changepoints_passing.py), and here what
a step must be beyond that to be told of.
docs/statistics.md has the whole in prose, with its sources.
"""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.changepoints_fit import steps_of
from kexbench.analysis.changepoints_passing import WINDOW, bursts_of, sizes_of, slopes_of, switches_of
from kexbench.analysis.changepoints_place import better_places
from kexbench.analysis.changepoints_screen import (
    PLACE_Z,
    WIDTHS,
    middle,
    noise_of,
    places_of,
    without_spikes,
    worth_fitting,
)
from kexbench.analysis.rounds import Vector
from kexbench.domain.verdicts import RELEVANT

ANNOTATE, ALERT = 5.5, 7.0
"""How many standard errors a step must be, to be shown in a chart and to raise suspicion."""
LEAST_POINTS = 4
"""A history of fewer has no noise to speak of, and so no change."""
LEAST_AFTER = 3
"""A change at the last two points is left to the comparison of the two versions: two outliers in a row are not rare."""
PART_POINTS = 10
"""A change that comes in parts has them so close."""
_GRAIN = 1e-9


@dataclass(frozen=True)
class ChangePoint:
    """The index of the first value after the change, the level after it relative to that before, and the step in
    standard errors, negative where the level fell."""

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

    `errors` are the values' standard errors, where replicates told them. At each of the `resets`, the index of the
    first value on another host or harness, the history begins anew: nothing is compared across it. `strict` is the
    level of alerts. ValueError where a value is not above zero, with its place.
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


class History:
    """A history that grows, and its changes so far.

    All since the last reset is judged again where the last points stray from the level that they continue, and
    otherwise each time it has grown by an eighth. So most points cost a few sums; and the changes are those that
    `change_points` finds in the whole, or will be at the latest when an eighth more has come, and eight points.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self.change_points: list[ChangePoint] = []
        self.judged = 0
        """How often all was judged, for those who count."""
        self._strict = strict
        self._before: list[ChangePoint] = []
        self._begin = 0
        self._logs: list[float] = []
        self._errors: list[float | None] = []
        self._due = LEAST_POINTS
        self._level, self._noise = 0.0, math.inf

    def __len__(self) -> int:
        return self._begin + len(self._logs)

    def append(self, value: float, error: float | None = None, *, reset: bool = False) -> None:
        """One more value; with `reset` it is the first on another host or harness."""
        series = _checked([value])
        uncertain = None if error is None else float(_relative([error], series)[0])
        if reset:
            self._before, self._begin = self.change_points, len(self)
            self._logs, self._errors = [], []
            self._due, self._noise = LEAST_POINTS, math.inf
        self._logs.append(math.log(value))
        self._errors.append(uncertain)
        if len(self._logs) >= self._due or self._strays():
            self._judge()

    def _judge(self) -> None:
        count = len(self._logs)
        logs = np.array(self._logs)
        # An error that is not known is taken for none, once others are known.
        known = any(error is not None for error in self._errors)
        errors = np.array([error or 0.0 for error in self._errors]) if known else None
        found = _of_piece(logs, errors, self._strict, self._begin)
        self.change_points = [*self._before, *found]
        self.judged += 1
        since = found[-1].index - self._begin if found else 0
        self._level = middle(logs[max(since, count - WINDOW) :])
        self._noise = float(noise_of(logs, errors)[-1])
        self._due = count + 8 + count // 8

    def _strays(self) -> bool:
        """Whether the mean of the last points, outliers drawn in, is far from the level."""
        reach = 3 * self._noise
        last = [max(-reach, min(reach, value - self._level)) for value in self._logs[-WIDTHS[-1] :]]
        total = 0.0
        for number, value in enumerate(reversed(last), 1):
            total += value
            if number in WIDTHS and abs(total) > PLACE_Z * self._noise * math.sqrt(number):
                return True
        return False


def _of_piece(logs: Vector, errors: "Vector | None", strict: bool, begin: int) -> list[ChangePoint]:
    if len(logs) < LEAST_POINTS:
        return []
    # Rounded, so that the same history in another unit is the same to the last bit.
    logs = np.round((logs - logs[0]) / _GRAIN) * _GRAIN
    noise = noise_of(logs, errors)
    calm = without_spikes(logs, noise)
    places = places_of(calm, noise)
    if not (clear := worth_fitting(calm, noise, places)):
        return []
    steps = steps_of(calm, noise, clear)
    if steps.memory:  # then those that were dropped are judged by noise that has none
        steps = steps_of(calm, noise, places)
    at = better_places(logs, steps.places)
    sizes = sizes_of(logs, at)
    drifting, bursts = slopes_of(calm, at), bursts_of(logs, at, sizes)
    passing = drifting | bursts | switches_of(sizes, middle(noise))
    level = ALERT if strict else ANNOTATE
    found = [
        ChangePoint(begin + place, math.exp(size), z)
        for number, (place, z, size) in enumerate(zip(at, steps.z, sizes, strict=True))
        if len(logs) - place >= LEAST_AFTER and abs(z) >= level and abs(size) >= RELEVANT and number not in passing
    ]
    return [change for change in found if not any(_is_part(change, of) for of in found)]


def _is_part(change: ChangePoint, of: ChangePoint) -> bool:
    """Whether a change too weak to alert only begins or ends a larger one, which came in parts."""
    first, second = math.log(change.ratio), math.log(of.ratio)
    near, same_way = abs(change.index - of.index) < PART_POINTS, first * second > 0
    return near and same_way and abs(first) < abs(second) and abs(change.z) < ALERT


def _checked(values: Sequence[float]) -> Vector:
    series = np.asarray(values, dtype=float)
    if series.ndim != 1:
        raise ValueError("a history is one list of numbers")
    if len(wrong := np.flatnonzero(~(np.isfinite(series) & (series > 0)))):
        raise ValueError(f"value {wrong[0] + 1} is {series[wrong[0]]:g}: a history is of finite values above zero")
    return series


def _relative(errors: Sequence[float], series: Vector) -> Vector:
    uncertain = np.asarray(errors, dtype=float)
    if uncertain.shape != series.shape:
        raise ValueError(f"{len(uncertain)} errors of {len(series)} values")
    if len(wrong := np.flatnonzero(~(np.isfinite(uncertain) & (uncertain >= 0)))):
        raise ValueError(f"error {wrong[0] + 1} is {uncertain[wrong[0]]:g}: errors are finite and not below zero")
    return uncertain / series
