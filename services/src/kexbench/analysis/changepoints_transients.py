"""Steps that are not changes: slow drift, a host that switches between two levels, successive outliers."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from kexbench.analysis.changepoints_screen import middle
from kexbench.analysis.rounds import Vector

WINDOW = 40
"""The points before and after a step that determine its size and place."""
ALIKE = 0.3
"""Two steps have the same size if they differ by less than this share."""
CLEAR_NOISES = 6.0
SWITCHES, CLEAR_SWITCHES = 2, 3
"""The pairs of steps up and down that make a switch; the second applies to steps above CLEAR_NOISES noises."""
BRIEF_POINTS, BRIEF_SCATTER = 3, 0.5
"""A brief level that goes back is real only if its points lie within this share of the step."""


def stretches_of(places: Sequence[int], count: int) -> Iterator[tuple[int, int, int]]:
    """Each place with the places before and after it; 0 and the count of values at the ends."""
    edges = [0, *places, count]
    return zip(edges, places, edges[2:], strict=False)


def sizes_of(logs: Vector, places: Sequence[int]) -> list[float]:
    """The difference of the medians after and before each place, over at most 40 points each."""
    return [
        middle(logs[place : min(after, place + WINDOW)]) - middle(logs[max(before, place - WINDOW) : place])
        for before, place, after in stretches_of(places, len(logs))
    ]


def slopes_of(logs: Vector, places: Sequence[int]) -> set[int]:
    """The steps on a slope: a line through the stretch between their neighbouring steps fits better."""
    return {
        number
        for number, (before, place, after) in enumerate(stretches_of(places, len(logs)))
        if _line_squares(logs[before:after]) < _squares(logs[before:place]) + _squares(logs[place:after])
    }


def _squares(values: Vector) -> float:
    residuals = values - values.mean()
    return float(residuals @ residuals)


def _line_squares(values: Vector) -> float:
    residuals, along = values - values.mean(), np.arange(len(values)) - (len(values) - 1) / 2
    return float(residuals @ residuals - (residuals @ along) ** 2 / (along @ along))


def switches_of(sizes: Sequence[float], noise: float) -> set[int]:
    """The steps of a host that switches between two levels: several times up and down by the same size.

    Twice is enough near the noise. Clear levels need more, since a change may well be committed, reverted and
    committed again.
    """
    pairs = [
        (number, (abs(first) + abs(second)) / 2)
        for number, (first, second) in enumerate(itertools.pairwise(sizes))
        if abs(first + second) <= ALIKE * max(abs(first), abs(second))
    ]
    switching: set[int] = set()
    for number, size in pairs:
        if sum(abs(other - size) <= ALIKE * max(other, size) for _, other in pairs) >= (
            SWITCHES if size < CLEAR_NOISES * noise else CLEAR_SWITCHES
        ):
            switching |= {number, number + 1}
    return switching


def bursts_of(logs: Vector, places: Sequence[int], sizes: Sequence[float]) -> set[int]:
    """The steps to a few successive outliers and back. A level that is so short and scatters is none."""
    bursts: set[int] = set()
    for number, (first, second) in enumerate(itertools.pairwise(sizes)):
        level = logs[places[number] : places[number + 1]]
        height = max(abs(first), abs(second))
        back = abs(first + second) <= ALIKE * height
        if len(level) <= BRIEF_POINTS and back and float(np.ptp(level)) > BRIEF_SCATTER * height:
            bursts |= {number, number + 1}
    return bursts
