"""The exact place of a step if noise is far from normal: with few levels, or with frequent outliers.

Least squares place a step where the means differ most. If a machine jumps between levels, a change may show in the set
of levels long before it shows in the mean. Then the better place is the one that separates the two distributions best:
that of the largest nonparametric likelihood (Zou, Yin, Feng & Wang 2014; the quantiles and weights of
ED-PELT, Haynes, Fearnhead & Eckley 2017).
"""

import math
from collections.abc import Sequence

import numpy as np

from kexbench.analysis.changepoints_screen import middle
from kexbench.analysis.changepoints_transients import WINDOW, stretches_of
from kexbench.analysis.rounds import Vector

REACH = 10
"""The largest distance, in points, that a step is moved."""
PLAIN = 0.7
"""The mean absolute deviation over the root mean square: 0.8 for normal noise, less with heavier tails."""
CLEARLY = 6.0
"""The log likelihood by which another place must be better."""
_QUANTILES = 4
"""The number of quantiles at which distributions are compared, times ln n."""


def better_places(logs: Vector, places: Sequence[int]) -> tuple[int, ...]:
    """The places, each moved if one nearby is clearly better. Their order stays the same."""
    return tuple(
        _better(logs, max(before, place - WINDOW), place, min(after, place + WINDOW))
        for before, place, after in stretches_of(places, len(logs))
    )


def _better(logs: Vector, first: int, place: int, end: int) -> int:
    before, after = logs[first:place], logs[place:end]
    if _is_plain(np.concatenate((before - middle(before), after - middle(after)))):
        return place
    # Less than half the distance, so that no two steps meet.
    low, high = place - min(REACH, (place - first - 1) // 2), place + min(REACH, (end - place - 1) // 2)
    likelihoods = _likelihoods(logs[first:end], np.arange(low, high + 1) - first)
    best = int(likelihoods.argmax())
    return low + best if likelihoods[best] - likelihoods[place - low] > CLEARLY else place


def _is_plain(residuals: Vector) -> bool:
    square = float(residuals @ residuals)
    return square == 0 or float(np.abs(residuals).mean()) > PLAIN * math.sqrt(square / len(residuals))


def _likelihoods(logs: Vector, sizes: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Vector:
    """The log likelihoods of a change after each of `sizes` values, from the empirical distributions before and after
    it, at quantiles that are denser in the tails."""
    count = len(logs)
    quantiles = max(3, round(_QUANTILES * math.log(count)))
    odds = math.log(2 * count - 1)
    chances = 1 / (1 + np.exp(odds * (1 - (2 * np.arange(1, quantiles + 1) - 1) / quantiles)))
    levels = np.quantile(logs, chances)
    below = np.cumsum((logs[:, None] < levels) + 0.5 * (logs[:, None] == levels), axis=0)
    sums, remainders = below[sizes - 1], below[-1] - below[sizes - 1]
    befores, afters = sizes[:, None], count - sizes[:, None]
    likelihoods: Vector = (2 * odds / quantiles) * (
        befores * _information(sums / befores) + afters * _information(remainders / afters)
    ).sum(axis=1)
    return likelihoods


def _information(
    shares: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    kept = np.clip(shares, 1e-12, 1 - 1e-12)
    return np.asarray(kept * np.log(kept) + (1 - kept) * np.log1p(-kept))
