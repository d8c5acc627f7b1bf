"""Which of the places are changes: steps in noise that may have a memory.

A history is steps plus stationary noise: a part that is forgotten from one point to the next, and one that fades, by a
factor `memory` a point (nodes that stay a while, drift, neighbours on the host). Each pair of memory and share of the fading
part is fitted with ever fewer of the places, by generalised least squares; the pair and the steps with the least
penalised deviance are the answer. So a machine that switches back and forth is noise with a memory where that explains
the series with less, and steps where those do. The model is that of DeCAFS (Romano, Rigaill, Runge & Fearnhead 2022).

The noise is taken as circulant, so that its covariance is diagonal after a Fourier transform (Whittle 1953).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kexbench.analysis.rounds import Vector

MEMORIES = (0.5, 0.75, 0.88, 0.95, 0.985)
SHARES = (0.25, 0.5, 0.8, 1.0)
MODELS = ((0.0, 0.0), *((memory, share) for memory in MEMORIES for share in SHARES))
CHANGE_PENALTY = 4.0
"""Times ln n, of the deviance, for each change."""
MEMORY_PENALTY = 6.0
"""Of the deviance, for noise with a memory."""


@dataclass(frozen=True)
class Steps:
    """The places that are changes, how many standard errors high each step is, and the noise's memory and its share."""

    places: tuple[int, ...]
    z: tuple[float, ...]
    memory: float
    share: float


def steps_of(logs: Vector, noise: Vector, places: list[int]) -> Steps:
    """The steps among the places, by backward elimination under every model of the noise at once."""
    count, many = len(logs), len(places)
    weights, deviances = _models(count)
    grams = _grams(logs, noise, places, weights)
    inverse = np.linalg.inv(grams[:, :-1, :-1])
    slopes = np.einsum("mij,mj->mi", inverse, grams[:, :-1, -1])
    rest = grams[:, -1, -1] - np.einsum("mi,mi->m", slopes, grams[:, :-1, -1])
    models = np.arange(len(MODELS))
    penalty = CHANGE_PENALTY * float(np.log(count))
    dropped = np.empty((many, len(MODELS)), dtype=np.intp)
    costs = np.empty((many + 1, len(MODELS)))
    gone = np.zeros((len(MODELS), many + 1), dtype=bool)
    gone[:, 0] = True  # the level of the whole stays
    floor = 1e-12 * count
    for fewer in range(many + 1):
        costs[fewer] = count * np.log(np.maximum(rest, floor) / count) + deviances + penalty * (many - fewer)
        if fewer == many:
            break
        spread = np.einsum("mii->mi", inverse)
        losses = np.where(gone, np.inf, slopes**2 / np.where(gone, 1.0, spread))
        weakest = losses.argmin(axis=1)
        dropped[fewer] = weakest
        gone[models, weakest] = True
        rest = rest + losses[models, weakest]
        column = inverse[models, :, weakest]
        scaled = column / column[models, weakest][:, None]
        slopes = slopes - scaled * slopes[models, weakest][:, None]
        inverse = inverse - scaled[:, :, None] * column[:, None, :]
    fewer, model = np.unravel_index(int(costs.argmin()), costs.shape)
    out = {int(each) for each in dropped[:fewer, model]}
    kept = [0, *(number for number in range(1, many + 1) if number not in out)]
    return _as_steps(grams[model], kept, places, count, MODELS[int(model)])


def _as_steps(
    gram: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]",
    kept: list[int],
    places: list[int],
    count: int,
    model: tuple[float, float],
) -> Steps:
    inverse = np.linalg.inv(gram[np.ix_(kept, kept)])
    slopes = inverse @ gram[kept, -1]
    rest = max(float(gram[-1, -1] - slopes @ gram[kept, -1]), 1e-12 * count)
    z = slopes / np.sqrt(np.diag(inverse) * rest / max(count - len(kept) - 1, 1))
    memory, share = model
    return Steps(tuple(places[each - 1] for each in kept[1:]), tuple(float(each) for each in z[1:]), memory, share)


def _grams(
    logs: Vector, noise: Vector, places: list[int], weights: "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
) -> "np.ndarray[tuple[int, int, int], np.dtype[np.float64]]":
    """For each model the products of all pairs of: the whole's level, the steps, the values."""
    count, size = len(logs), len(places) + 2
    columns = np.empty((size, count))
    columns[:-1] = np.arange(count) >= np.array([0, *places])[:, None]
    columns[-1] = logs
    waves = np.fft.rfft(columns / noise, axis=1)
    first, second = np.triu_indices(size)
    products = waves.real[first] * waves.real[second] + waves.imag[first] * waves.imag[second]
    halves = products @ weights
    grams = np.empty((weights.shape[1], size, size))
    grams[:, first, second] = grams[:, second, first] = halves.T
    return grams


@lru_cache(maxsize=64)
def _models(count: int) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.float64]]", Vector]:
    """By frequency and model one over the noise's spectrum, and by model the deviance that it has of itself."""
    frequencies = 2 * np.pi * np.arange(count // 2 + 1) / count
    multiples = np.full(len(frequencies), 2.0)
    multiples[0] = 1.0
    if count % 2 == 0:
        multiples[-1] = 1.0
    weights = np.empty((len(frequencies), len(MODELS)))
    deviances = np.zeros(len(MODELS))
    for number, (memory, share) in enumerate(MODELS):
        fading = share * (1 - memory**2) / (1 - 2 * memory * np.cos(frequencies) + memory**2)
        spectrum = fading + (1 - share)
        deviances[number] = multiples @ np.log(spectrum) + (MEMORY_PENALTY if memory else 0.0)
        weights[:, number] = multiples / spectrum / count
    return weights, deviances
