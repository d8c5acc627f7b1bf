"""Steps that are none of the library's doing: a host that switches between two levels, outliers that come in a row."""

from collections.abc import Sequence

import numpy as np

from kexbench.analysis.rounds import Vector

WINDOW = 40
"""So many points before and after a step tell its size."""
ALIKE = 0.3
"""Two steps are of one size that differ by less than this share of it."""
CLEAR_NOISES = 6.0
SWITCHES, CLEAR_SWITCHES = 2, 3
"""How many pairs of successive steps there and back make a switch, and how many where they are as high as so many noises."""
BRIEF_POINTS, BRIEF_SCATTER = 3, 0.5
"""A level of so few points that goes back again is one if they lie within this share of the step."""


def sizes_of(logs: Vector, places: Sequence[int]) -> list[float]:
    """The difference of the medians after and before each place, of at most 40 points each."""
    edges = [0, *places, len(logs)]
    return [
        float(
            np.median(logs[place : min(after, place + WINDOW)]) - np.median(logs[max(before, place - WINDOW) : place])
        )
        for before, place, after in zip(edges, places, edges[2:], strict=False)
    ]


def switches_of(sizes: Sequence[float], noise: float) -> set[int]:
    """Which steps are a host's switching between the same two levels: up and down again by the same, several times.

    Twice there and back is enough near the noise; a change that is committed and taken back may well be made again, so of clear
    levels it takes more.
    """
    pairs = [
        (number, (abs(first) + abs(second)) / 2)
        for number, (first, second) in enumerate(zip(sizes, sizes[1:], strict=False))
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
    for number, (first, second) in enumerate(zip(sizes, sizes[1:], strict=False)):
        level = logs[places[number] : places[number + 1]]
        height = max(abs(first), abs(second))
        back = abs(first + second) <= ALIKE * height
        if len(level) <= BRIEF_POINTS and back and float(np.ptp(level)) > BRIEF_SCATTER * height:
            found |= {number, number + 1}
    return found
