"""Candidate places of changes in a history: the noise of each point, clipped outliers, and places to fit.

Everything here is cheap and finds too many places rather than too few; changepoints_fit.py decides.
"""

from functools import lru_cache

import numpy as np

from kexbench.analysis.rounds import Vector

WIDTHS = (2, 3, 5, 8, 13, 21, 34, 55)
"""The means of this many points before and after a place are compared."""
PLACE_Z = 3.0
MAX_PLACES = 40
KEPT_Z = 4.0
"""Well below the threshold of reported steps."""
LEAST_NOISE = 5e-4
"""0.05%: the precision assumed for values without scatter."""
_TO_SIGMA = 1.4826 / 2**0.5
_SPIKE_WINDOW = 7
"""Up to three successive outlying points are outliers; four are a level."""
_SPIKE_CLIP = 3.0
_NOISE_WINDOW, _NOISE_STRIDE = 25, 5
_UNEVEN = 1.6
"""The factor by which the noise of a stretch must differ from that of the history to have its own noise."""


def noise_of(logs: Vector, errors: "Vector | None") -> Vector:
    """The standard deviation of each point. It is that of the whole history, from the median absolute difference of
    successive points, which steps do not affect. Clearly calmer or noisier stretches have their own.

    With standard `errors` of the points from replicates, each point has its own error. The variance of the history
    beyond a typical error is common to all points.
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
    """The points, clipped to within three noises of the median of their neighbours."""
    near = _middles(logs.take(_around(len(logs), _SPIKE_WINDOW)))
    reach = _SPIKE_CLIP * noise
    return np.asarray(np.minimum(np.maximum(logs, near - reach), near + reach))


def places_of(logs: Vector, noise: Vector) -> list[int]:
    """The places where the means before and after differ most, at any width; if too many, the clearest."""
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
    candidates: dict[int, None] = {}
    by_width: list[list[int]] = [[] for _ in WIDTHS]
    for row, place in zip(rows[order].tolist(), places[order].tolist(), strict=True):
        reach = max(1, WIDTHS[row] // 2)
        if all(abs(place - other) > reach for other in by_width[row]):
            by_width[row].append(place)
            candidates[place + 1] = None
    kept = [place for place in candidates if 2 <= place < count - 1][:MAX_PLACES]
    return sorted(kept)


def worth_fitting(logs: Vector, noise: Vector, places: list[int]) -> list[int]:
    """The places that remain after the weakest are dropped, one by one, while the levels on both sides are alike. Many
    places differ from nearby points, but not from the whole stretch up to the next place. Bottom-up segmentation
    (Keogh, Chu, Hart & Pazzani 2001)."""
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
    """The median; for an even count the upper of the two middle values, which takes a tenth of the time."""
    return float(np.partition(values, len(values) // 2)[len(values) // 2])


def _middles(rows: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> Vector:
    half = rows.shape[1] // 2
    return np.asarray(np.partition(rows, half, axis=1)[:, half])


@lru_cache(maxsize=256)
def _around(count: int, window: int, stride: int = 1) -> "np.ndarray[tuple[int, int], np.dtype[np.intp]]":
    """The indices of the window around each stride-th of `count` values, mirrored at the ends."""
    half = window // 2
    rows = np.arange(0, count, stride)[:, None] + np.arange(-half, half + 1)[None, :]
    if stride == 1:
        return np.asarray(np.clip(rows, 0, count - 1))
    rows = np.abs(rows + stride // 2)
    return np.asarray(np.clip(np.where(rows >= count, 2 * (count - 1) - rows, rows), 0, count - 1))


@lru_cache(maxsize=64)
def _edges(count: int) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.intp]]", ...]:
    """For each width and place, where the stretch before it begins and the stretch after it ends."""
    widths = np.array([width for width in WIDTHS if width <= max(2, count // 2)])[:, None]
    places = np.arange(1, count)[None, :]
    return np.maximum(places - widths, 0), np.minimum(places + widths, count)
