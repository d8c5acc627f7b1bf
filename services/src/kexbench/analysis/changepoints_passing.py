"""Steps that are no change: of a slow drift, of a host that switches between two levels, of outliers in a row."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from kexbench.analysis.changepoints_screen import middle
from kexbench.analysis.rounds import Vector

WINDOW = 40
"""So many points before and after a step tell its size and its place."""
ALIKE = 0.3
"""Two steps are of one size that differ by less than this share of it."""
CLEAR_NOISES = 6.0
SWITCHES, CLEAR_SWITCHES = 2, 3
"""How many pairs of successive steps there and back make a switch; the second of steps as high as so many noises."""
BRIEF_POINTS, BRIEF_SCATTER = 3, 0.5
"""A level of so few points that goes back again is one if they lie within this share of the step."""


def stretches_of(places: Sequence[int], count: int) -> Iterator[tuple[int, int, int]]:
    """Of each place the one before it, itself and the one after it; 0 and the count of values at the ends."""
    edges = [0, *places, count]
    return zip(edges, places, edges[2:], strict=False)


def sizes_of(logs: Vector, places: Sequence[int]) -> list[float]:
    """The difference of the medians after and before each place, of at most 40 points each."""
    return [
        middle(logs[place : min(after, place + WINDOW)]) - middle(logs[max(before, place - WINDOW) : place])
        for before, place, after in stretches_of(places, len(logs))
    ]


def slopes_of(logs: Vector, places: Sequence[int]) -> set[int]:
    """Which steps lie on a slope: a line through the stretch from the step before to the step after fits it better."""
    return {
        number
        for number, (before, place, after) in enumerate(stretches_of(places, len(logs)))
        if _line_rest(logs[before:after]) < _rest(logs[before:place]) + _rest(logs[place:after])
    }


def _rest(values: Vector) -> float:
    away = values - values.mean()
    return float(away @ away)


def _line_rest(values: Vector) -> float:
    away, along = values - values.mean(), np.arange(len(values)) - (len(values) - 1) / 2
    return float(away @ away - (away @ along) ** 2 / (along @ along))


def switches_of(sizes: Sequence[float], noise: float) -> set[int]:
    """Which steps are a host's switching between the same two levels: up and down again by the same, several times.

    Twice there and back is enough near the noise; a change that is committed and taken back may well be made again,
    so of clear levels it takes more.
    """
    pairs = [
        (number, (abs(first) + abs(second)) / 2)
        for number, (first, second) in enumerate(itertools.pairwise(sizes))
        if abs(first + second) <= ALIKE * max(abs(first), abs(second))
    ]
    found: set[int] = set()
    for number, size in pairs:
        if sum(abs(other - size) <= ALIKE * max(other, size) for _, other in pairs) >= (
            SWITCHES if size < CLEAR_NOISES * noise else CLEAR_SWITCHES
        ):
            found |= {number, number + 1}
    return found


def bursts_of(logs: Vector, places: Sequence[int], sizes: Sequence[float]) -> set[int]:
    """Which steps lead to a few outliers in a row and back: what is as short as that and scatters is no level."""
    found: set[int] = set()
    for number, (first, second) in enumerate(itertools.pairwise(sizes)):
        level = logs[places[number] : places[number + 1]]
        height = max(abs(first), abs(second))
        back = abs(first + second) <= ALIKE * height
        if len(level) <= BRIEF_POINTS and back and float(np.ptp(level)) > BRIEF_SCATTER * height:
            found |= {number, number + 1}
    return found
