"""Where a history may have changed: the noise of each of its points, outliers drawn in, and the places worth a closer look.

Everything here is cheap and errs on the side of too many places; changepoints_fit.py decides.
"""

from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kexbench.analysis.rounds import Vector

WIDTHS = (2, 3, 5, 8, 13, 21, 34, 55)
"""Means of so many points before a place are compared with those of as many after it."""
PLACE_Z = 3.0
MAX_PLACES = 40
LEAST_NOISE = 5e-4
"""A twentieth of a percent: what does not scatter at all is not known better than that."""
_NORMAL = 1.4826
_SPIKE_WINDOW = 7
"""Up to three points in a row that stand out are outliers; four are a level."""
_SPIKE_CLIP = 3.0
_NOISE_WINDOW = 25
_UNEVEN = 1.6
"""How many times as noisy as the whole a stretch must be to have a noise of its own."""


def noise_of(logs: Vector, errors: "Vector | None") -> Vector:
    """The standard deviation of each point: of the whole from the median absolute difference of successive points, which
    no step moves, times that of its surroundings where these are clearly calmer or wilder.

    Where replicates told the standard `errors` of the points, what is left of the whole's variance after a usual error
    is common to all points, and each has its own error besides.
    """
    differences = np.abs(np.diff(logs))
    whole = max(_NORMAL * float(np.median(differences)) / 2**0.5, LEAST_NOISE)
    near = _NORMAL / 2**0.5 * _running_median(differences, _NOISE_WINDOW, "reflect")
    ratios = np.append(near, near[-1]) / whole
    uneven = np.where(ratios > _UNEVEN, ratios / _UNEVEN**0.5, np.where(ratios * _UNEVEN < 1, ratios * _UNEVEN**0.5, 1))
    noise = np.maximum(whole * uneven, LEAST_NOISE)
    if errors is None:
        return noise
    common = np.maximum(noise**2 - np.median(errors) ** 2, noise**2 / 4)
    return np.asarray(np.sqrt(common + errors**2))


def without_spikes(logs: Vector, noise: Vector) -> Vector:
    """Points far from the median of their neighbours, drawn in to three noises from it."""
    middle = _running_median(logs, _SPIKE_WINDOW, "edge")
    return np.clip(logs, middle - _SPIKE_CLIP * noise, middle + _SPIKE_CLIP * noise)


def places_of(logs: Vector, noise: Vector) -> list[int]:
    """Where the means before and after differ most, at any of the widths; the clearest where there are too many."""
    count = len(logs)
    weights = noise**-2.0
    sums = np.concatenate(([0.0], np.cumsum(logs * weights)))
    mass = np.concatenate(([0.0], np.cumsum(weights)))
    befores, afters = _edges(count)
    left, right = mass[1:-1] - mass[befores], mass[afters] - mass[1:-1]
    step = (sums[afters] - sums[1:-1]) / right - (sums[1:-1] - sums[befores]) / left
    z = np.abs(step) / np.sqrt(1 / left + 1 / right)
    found = np.zeros(count)
    for row, width in zip(z, WIDTHS, strict=False):
        reach = max(1, width // 2)
        highest = sliding_window_view(np.pad(row, reach), 2 * reach + 1).max(axis=1)
        peaks = np.flatnonzero((row >= highest) & (row > PLACE_Z)) + 1
        found[peaks] = np.maximum(found[peaks], row[peaks - 1])
    places = np.flatnonzero(found[: count - 1])
    places = places[places >= 2]
    if len(places) > MAX_PLACES:
        clearest = np.argsort(-found[places], kind="stable")[:MAX_PLACES]
        places = np.sort(places[clearest])
    return [int(place) for place in places]


@lru_cache(maxsize=64)
def _edges(count: int) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.intp]]", ...]:
    """Of each width and place, where the stretch before it begins and where the one after it ends."""
    widths = np.array([width for width in WIDTHS if width <= max(2, count // 2)])[:, None]
    places = np.arange(1, count)[None, :]
    return np.maximum(places - widths, 0), np.minimum(places + widths, count)


def _running_median(values: Vector, window: int, mode: str) -> Vector:
    half = min(window, len(values) - (1 - len(values) % 2)) // 2
    padded = np.pad(values, half, mode=mode if mode == "edge" or len(values) > half else "edge")  # type: ignore[call-overload]
    return np.partition(sliding_window_view(padded, 2 * half + 1), half, axis=1)[:, half]
