"""At which point a step is where noise is far from normal: of few levels, or with outliers that come and go.

Least squares put a step where means differ most. Where a machine jumps between some levels, a change may show in which
levels there are long before it shows in the mean, and then the place that tells the two distributions apart best is
the better one: that of the largest nonparametric likelihood (Zou, Yin, Feng & Wang 2014; the quantiles and weights of
ED-PELT, Haynes, Fearnhead & Eckley 2017).
"""

import math
from collections.abc import Sequence

import numpy as np

from kexbench.analysis.changepoints_passing import WINDOW, stretches_of
from kexbench.analysis.changepoints_screen import middle
from kexbench.analysis.rounds import Vector

REACH = 10
"""A step moves by no more."""
PLAIN = 0.7
"""The mean absolute deviation over the root of the mean square: 0.8 of normal noise, and less with heavier tails."""
CLEARLY = 6.0
"""A place must be better by so much log likelihood, else the first one stays."""
_QUANTILES = 4
"""Times ln n: where distributions are compared."""


def better_places(logs: Vector, places: Sequence[int]) -> tuple[int, ...]:
    """The places, each moved where another one near is clearly better. They stay in their order."""
    return tuple(
        _better(logs, max(before, place - WINDOW), place, min(after, place + WINDOW))
        for before, place, after in stretches_of(places, len(logs))
    )


def _better(logs: Vector, first: int, place: int, end: int) -> int:
    before, after = logs[first:place], logs[place:end]
    if _is_plain(np.concatenate((before - middle(before), after - middle(after)))):
        return place
    # Less than half the way, so that no two steps meet.
    low, high = place - min(REACH, (place - first - 1) // 2), place + min(REACH, (end - place - 1) // 2)
    found = _likelihoods(logs[first:end], np.arange(low, high + 1) - first)
    best = int(found.argmax())
    return low + best if found[best] - found[place - low] > CLEARLY else place


def _is_plain(rests: Vector) -> bool:
    square = float(rests @ rests)
    return square == 0 or float(np.abs(rests).mean()) > PLAIN * math.sqrt(square / len(rests))


def _likelihoods(logs: Vector, sizes: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Vector:
    """Of a change after so many values: of the empirical distributions before and after it, at quantiles that lie
    closer together in the tails."""
    count = len(logs)
    many = max(3, round(_QUANTILES * math.log(count)))
    odds = math.log(2 * count - 1)
    chances = 1 / (1 + np.exp(odds * (1 - (2 * np.arange(1, many + 1) - 1) / many)))
    levels = np.quantile(logs, chances)
    below = np.cumsum((logs[:, None] < levels) + 0.5 * (logs[:, None] == levels), axis=0)
    sums, rest = below[sizes - 1], below[-1] - below[sizes - 1]
    befores, afters = sizes[:, None], count - sizes[:, None]
    found: Vector = (2 * odds / many) * (
        befores * _information(sums / befores) + afters * _information(rest / afters)
    ).sum(axis=1)
    return found


def _information(
    shares: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    kept = np.clip(shares, 1e-12, 1 - 1e-12)
    return np.asarray(kept * np.log(kept) + (1 - kept) * np.log1p(-kept))
