"""Where a history may have changed: the noise of each of its points, outliers drawn in, and places worth a closer look.

Everything here is cheap and errs on the side of too many places; changepoints_fit.py decides.
"""

from functools import lru_cache

import numpy as np

from kexbench.analysis.rounds import Vector

WIDTHS = (2, 3, 5, 8, 13, 21, 34, 55)
"""Means of so many points before a place are compared with those of as many after it."""
PLACE_Z = 3.0
MAX_PLACES = 40
KEPT_Z = 4.0
"""Well below what a step must be to be told of."""
LEAST_NOISE = 5e-4
"""A twentieth of a percent: what does not scatter at all is not known better than that."""
_TO_SIGMA = 1.4826 / 2**0.5
_SPIKE_WINDOW = 7
"""Up to three points in a row that stand out are outliers; four are a level."""
_SPIKE_CLIP = 3.0
_NOISE_WINDOW, _NOISE_STRIDE = 25, 5
_UNEVEN = 1.6
"""How many times as noisy as the whole a stretch must be to have a noise of its own."""


def noise_of(logs: Vector, errors: "Vector | None") -> Vector:
    """The standard deviation of each point: that of the whole, from the median absolute difference of successive
    points, which no step moves, and another where the surroundings are clearly calmer or wilder.

    Where replicates told the standard `errors` of the points, what is left of the whole's variance after a usual error
    is common to all points, and each has its own error besides.
    """
    differences = np.abs(logs[1:] - logs[:-1])
    count = len(differences)
    whole = max(_TO_SIGMA * middle(differences), LEAST_NOISE)
    ratios = _TO_SIGMA * _middles(differences.take(_around(count, _NOISE_WINDOW, _NOISE_STRIDE))) / whole
    uneven = np.where(ratios > _UNEVEN, ratios / _UNEVEN**0.5, np.where(ratios * _UNEVEN < 1, ratios * _UNEVEN**0.5, 1))
    noise = np.maximum(whole * np.repeat(uneven, _NOISE_STRIDE)[: count + 1], LEAST_NOISE)
    noise = np.append(noise, [noise[-1]] * (count + 1 - len(noise)))
    if errors is None:
        return noise
    common = np.maximum(noise**2 - np.median(errors) ** 2, noise**2 / 4)
    return np.asarray(np.sqrt(common + errors**2))


def without_spikes(logs: Vector, noise: Vector) -> Vector:
    """Points far from the median of their neighbours, drawn in to three noises from it."""
    near = _middles(logs.take(_around(len(logs), _SPIKE_WINDOW)))
    reach = _SPIKE_CLIP * noise
    return np.asarray(np.minimum(np.maximum(logs, near - reach), near + reach))


def places_of(logs: Vector, noise: Vector) -> list[int]:
    """Where the means before and after differ most, at any of the widths; the clearest where there are too many."""
    count = len(logs)
    weights = 1 / (noise * noise)
    sums = np.concatenate(([0.0], np.cumsum(logs * weights)))
    mass = np.concatenate(([0.0], np.cumsum(weights)))
    befores, afters = _edges(count)
    at, so_far = mass[1:-1], sums[1:-1]
    left, right = at - mass.take(befores), mass.take(afters) - at
    step = (sums.take(afters) - so_far) / right - (so_far - sums.take(befores)) / left
    z = np.abs(step) / np.sqrt(1 / left + 1 / right)
    high = z > PLACE_Z
    high[:, 1:] &= z[:, 1:] >= z[:, :-1]
    high[:, :-1] &= z[:, :-1] >= z[:, 1:]
    rows, places = np.nonzero(high)
    order = np.argsort(-z[rows, places], kind="stable")
    found: dict[int, None] = {}
    shown: list[list[int]] = [[] for _ in WIDTHS]
    for row, place in zip(rows[order].tolist(), places[order].tolist(), strict=True):
        reach = max(1, WIDTHS[row] // 2)
        if all(abs(place - other) > reach for other in shown[row]):
            shown[row].append(place)
            found[place + 1] = None
    kept = [place for place in found if 2 <= place < count - 1][:MAX_PLACES]
    return sorted(kept)


def worth_fitting(logs: Vector, noise: Vector, places: list[int]) -> list[int]:
    """The places left when the weakest is dropped, one after the other, while the levels on its two sides are alike:
    many stand out from what is near that do not from all up to the next place. Bottom-up segmentation (Keogh, Chu,
    Hart & Pazzani 2001)."""
    weights = 1 / (noise * noise)
    edges = [0, *places]
    masses = np.add.reduceat(weights, edges).tolist()
    sums = np.add.reduceat(weights * logs, edges).tolist()

    def squared_z(at: int) -> float:
        mass, after = masses[at], masses[at + 1]
        return float((sums[at] / mass - sums[at + 1] / after) ** 2 * mass * after / (mass + after))

    kept, clear = list(places), [squared_z(at) for at in range(len(places))]
    while clear and (least := min(clear)) < KEPT_Z**2:
        at = clear.index(least)
        del kept[at], clear[at]
        masses[at] += masses.pop(at + 1)
        sums[at] += sums.pop(at + 1)
        for near in range(max(at - 1, 0), min(at + 1, len(clear))):
            clear[near] = squared_z(near)
    return kept


def middle(values: Vector) -> float:
    """The median; of an even number of values the upper of the two in the middle, which takes a tenth of the time."""
    return float(np.partition(values, len(values) // 2)[len(values) // 2])


def _middles(rows: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> Vector:
    half = rows.shape[1] // 2
    return np.asarray(np.partition(rows, half, axis=1)[:, half])


@lru_cache(maxsize=256)
def _around(count: int, window: int, stride: int = 1) -> "np.ndarray[tuple[int, int], np.dtype[np.intp]]":
    """The indices of the window around each stride-th of so many values; what reaches over an end is mirrored."""
    half = window // 2
    rows = np.arange(0, count, stride)[:, None] + np.arange(-half, half + 1)[None, :]
    if stride == 1:
        return np.asarray(np.clip(rows, 0, count - 1))
    rows = np.abs(rows + stride // 2)
    return np.asarray(np.clip(np.where(rows >= count, 2 * (count - 1) - rows, rows), 0, count - 1))


@lru_cache(maxsize=64)
def _edges(count: int) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.intp]]", ...]:
    """Of each width and place, where the stretch before it begins and where the one after it ends."""
    widths = np.array([width for width in WIDTHS if width <= max(2, count // 2)])[:, None]
    places = np.arange(1, count)[None, :]
    return np.maximum(places - widths, 0), np.minimum(places + widths, count)
