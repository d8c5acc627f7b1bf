"""Which of the places are changes: steps in noise that may have a memory.

A history is steps plus stationary noise: a part that is forgotten from one point to the next, and one that fades, by a
factor `memory` a point (nodes that stay a while, drift, neighbours on the host). Each pair of memory and share of the
fading part is fitted with ever fewer of the places, by generalised least squares; the pair and the steps with the least
penalised deviance are the answer. So a machine that switches back and forth is noise with a memory where that explains
the series with less, and steps where those do. The model is close to that of DeCAFS (Romano, Rigaill, Runge & Fearnhead
2022).

The noise is taken as circulant, so that its covariance is diagonal after a Fourier transform (Whittle 1953).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kexbench.analysis.rounds import Vector

Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
"""Of two dimensions and three: by model and place, and by model and pairs of places."""
MEMORIES = (0.6, 0.85, 0.97)
SHARES = (0.3, 0.6, 1.0)
MODELS = ((0.0, 0.0), *((memory, share) for memory in MEMORIES for share in SHARES))
CHANGE_PENALTY = 4.5
"""Times ln n, of the deviance, for each change."""
MODEL_CHANGE_PENALTY = 2.75
"""The same while the models of the noise are compared: many small steps are not to be taken for noise with a memory."""
LEAST_REST = 1e-12
"""Of the deviance, a point."""
SURE = 20.0
"""Nothing is dropped any more where this many ln n of deviance went with the weakest under every model."""
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
    against = grams[:, :-1, -1]
    slopes = np.matmul(inverse, against[:, :, None])[:, :, 0]
    # What fits to the last bit is not known better than that.
    rest = np.maximum(grams[:, -1, -1] - (slopes * against).sum(axis=1), LEAST_REST * count)
    models, logarithm = np.arange(len(MODELS)), float(np.log(count))
    away = np.zeros((len(MODELS), many + 1))
    away[:, 0] = np.inf  # the level of the whole stays
    stages = [_Stage(slopes, _diagonals(inverse), rest)]
    dropped: list[np.ndarray[Any, np.dtype[np.intp]]] = []
    while len(dropped) < many:
        losses = slopes * slopes / stages[-1].spread + away
        weakest = losses.argmin(axis=1)
        loss = losses[models, weakest]
        if (loss / rest).min() * count > SURE * logarithm:
            break
        dropped.append(weakest)
        away[models, weakest] = np.inf
        rest = rest + loss
        column = inverse[models, :, weakest]
        scaled = column / column[models, weakest, None]
        slopes = slopes - scaled * slopes[models, weakest, None]
        inverse = inverse - scaled[:, :, None] * column[:, None, :]
        inverse[models, weakest, weakest] = 1.0  # of what is gone, so that nothing is divided by zero
        stages.append(_Stage(slopes, _diagonals(inverse), rest))
    rests = np.array([stage.rest for stage in stages])
    costs = count * np.log(rests / count) + deviances
    penalties = logarithm * np.arange(many, many - len(stages), -1)[:, None]
    model = int((costs + MODEL_CHANGE_PENALTY * penalties).min(axis=0).argmin())
    best = int((costs + CHANGE_PENALTY * penalties)[:, model].argmin())
    gone = {0, *(int(weakest[model]) for weakest in dropped[:best])}
    kept = [place for place in range(many + 1) if place not in gone]
    variance = rests[best, model] / max(count - (many - best) - 2, 1)
    z = stages[best].slopes[model, kept] / np.sqrt(stages[best].spread[model, kept] * variance)
    return Steps(tuple(places[each - 1] for each in kept), tuple(z.tolist()), *MODELS[model])


class _Stage(NamedTuple):
    """By model and place the step and its variance, and by model the deviance that is left."""

    slopes: Numbers
    spread: Numbers
    rest: Vector


def _diagonals(matrices: "np.ndarray[Any, np.dtype[Any]]") -> Numbers:
    """As a view of them."""
    many, size, _ = matrices.shape
    return matrices.reshape(many, size * size)[:, :: size + 1]


def _grams(
    logs: Vector, noise: Vector, places: list[int], weights: "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
) -> "np.ndarray[tuple[int, int, int], np.dtype[np.float64]]":
    """For each model the products of all pairs of: the whole's level, the steps, the values."""
    count, size = len(logs), len(places) + 2
    columns = np.empty((size, count))
    columns[:-1] = np.arange(count) >= np.array([0, *places])[:, None]
    columns[-1] = logs
    waves = np.fft.rfft(columns / noise, axis=1)
    parts = np.concatenate((waves.real, waves.imag), axis=1)
    weighted = weights[:, None, :] * parts
    return np.asarray(weighted @ parts.T)


@lru_cache(maxsize=64)
def _models(count: int) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.float64]]", Vector]:
    """By model one over the noise's spectrum, of every frequency's real part and then its imaginary part, and the
    deviance that the model has of itself."""
    frequencies = 2 * np.pi * np.arange(count // 2 + 1) / count
    multiples = np.full(len(frequencies), 2.0)
    multiples[0] = 1.0
    if count % 2 == 0:
        multiples[-1] = 1.0
    weights = np.empty((len(MODELS), len(frequencies)))
    deviances = np.zeros(len(MODELS))
    for number, (memory, share) in enumerate(MODELS):
        fading = share * (1 - memory**2) / (1 - 2 * memory * np.cos(frequencies) + memory**2)
        spectrum = fading + (1 - share)
        deviances[number] = multiples @ np.log(spectrum) + (MEMORY_PENALTY if memory else 0.0)
        weights[number] = multiples / spectrum / count
    return np.concatenate((weights, weights), axis=1), deviances
