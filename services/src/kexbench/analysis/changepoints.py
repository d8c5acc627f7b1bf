"""Where the level of a history changed: a new version's cost, in the first place.

Three stages: each point's noise and the places worth a look (changepoints_screen.py), the steps among them (changepoints_fit.py),
and here what a step must be beyond that to be told of. docs/statistics.md has the whole in prose, with its sources.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.changepoints_fit import steps_of
from kexbench.analysis.changepoints_screen import middle, noise_of, places_of, without_spikes
from kexbench.analysis.estimates import RELEVANT
from kexbench.analysis.rounds import Vector

ANNOTATE, ALERT = 5.5, 7.0
"""How many standard errors a step must be, to be shown in a chart and to raise suspicion."""
LEAST_POINTS = 4
"""A history of fewer has no noise to speak of, and so no change."""
LEAST_AFTER = 2
"""The change at the last point alone is left to the comparison of the two versions."""
WINDOW = 40
"""So many points before and after a change tell its ratio."""
ALIKE = 0.3
"""Two steps are of one size that differ by less than this share of it."""
BRIEF = 3
BRIEF_SCATTER = 0.5
CLEAR = 6.0
CLEAR_SWITCHES = 3
SWITCHES = 2
"""So often there and back makes a switch of two levels."""
_GRAIN = 1e-9


@dataclass(frozen=True)
class ChangePoint:
    """The index of the first value after the change, the level after it relative to that before, and the step in standard
    errors, negative where the level fell."""

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

    `errors` are the values' standard errors, where replicates told them. At each of the `resets`, the index of the first
    value on another host or harness, the history begins anew: nothing is compared across it. `strict` is the level of alerts.
    """
    series = _checked(values)
    uncertain = None if errors is None else _relative(errors, series)
    logs = np.log(series)
    found: list[ChangePoint] = []
    edges = [0, *sorted({index for index in resets if 0 < index < len(series)}), len(series)]
    for begin, end in zip(edges, edges[1:], strict=False):
        piece = None if uncertain is None else uncertain[begin:end]
        found += [
            ChangePoint(begin + each.index, each.ratio, each.z) for each in _of_piece(logs[begin:end], piece, strict)
        ]
    return found


def _of_piece(logs: Vector, errors: "Vector | None", strict: bool) -> list[ChangePoint]:
    if len(logs) < LEAST_POINTS:
        return []
    # Rounded, so that the same history in another unit is the same to the last bit.
    logs = np.round((logs - logs[0]) / _GRAIN) * _GRAIN
    noise = noise_of(logs, errors)
    calm = without_spikes(logs, noise)
    places = places_of(calm, noise)
    if not places:
        return []
    steps = steps_of(calm, noise, places)
    sizes = _sizes(logs, steps.places)
    usual = middle(noise)
    passing = switches_of(sizes, usual) | bursts_of(logs, steps.places, sizes)
    level = ALERT if strict else ANNOTATE
    return [
        ChangePoint(place, math.exp(size), z)
        for number, (place, z, size) in enumerate(zip(steps.places, steps.z, sizes, strict=True))
        if len(logs) - place >= LEAST_AFTER and abs(z) >= level and abs(size) >= RELEVANT and number not in passing
    ]


def _sizes(logs: Vector, places: Sequence[int]) -> list[float]:
    """The difference of the medians after and before each place, of at most 40 points each."""
    edges = [0, *places, len(logs)]
    return [
        float(np.median(logs[place : min(after, place + WINDOW)]) - np.median(logs[max(before, place - WINDOW) : place]))
        for before, place, after in zip(edges, places, edges[2:], strict=False)
    ]


def switches_of(sizes: Sequence[float], noise: float) -> set[int]:
    """Which steps are a host's switching between the same two levels: up and down again by the same, several times."""
    pairs = [
        (number, (abs(first) + abs(second)) / 2)
        for number, (first, second) in enumerate(zip(sizes, sizes[1:], strict=False))
        if abs(first + second) <= ALIKE * max(abs(first), abs(second))
    ]
    found: set[int] = set()
    for number, size in pairs:
        if sum(abs(other - size) <= ALIKE * max(other, size) for _, other in pairs) >= (SWITCHES if size < CLEAR * noise else CLEAR_SWITCHES):
            found |= {number, number + 1}
    return found


def bursts_of(logs: Vector, places: Sequence[int], sizes: Sequence[float]) -> set[int]:
    """Which steps lead to a few outliers in a row and back: what is as short as that and scatters is no level."""
    found: set[int] = set()
    for number, (first, second) in enumerate(zip(sizes, sizes[1:], strict=False)):
        level = logs[places[number] : places[number + 1]]
        height = max(abs(first), abs(second))
        back = abs(first + second) <= ALIKE * height
        if len(level) <= BRIEF and back and float(np.ptp(level)) > BRIEF_SCATTER * height:
            found |= {number, number + 1}
    return found


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
