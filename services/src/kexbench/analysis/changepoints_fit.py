"""Which places are changes: steps in noise that may have a memory.

A history is steps plus stationary noise. One part of the noise is independent from point to point. The other part fades
by a factor `memory` per point (pods that stay on a node, drift, other load on the host). Each pair of memory and share
of the fading part is fitted by generalised least squares, with fewer and fewer places. The pair and steps with the
least penalised deviance win. So a machine that switches back and forth counts as noise with a memory or as steps,
whichever explains the series with less. The model is close to that of DeCAFS (Romano, Rigaill, Runge & Fearnhead 2022).

The noise is assumed circulant, so that its covariance is diagonal after a Fourier transform (Whittle 1953).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kexbench.analysis.rounds import Vector

Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
"""Arrays with two or three dimensions: by model and place, or by model and pair of places."""
MEMORIES = (0.6, 0.85, 0.97)
SHARES = (0.3, 0.6, 1.0)
MODELS = ((0.0, 0.0), *((memory, share) for memory in MEMORIES for share in SHARES))
CHANGE_PENALTY = 4.5
"""The penalty of the deviance for each change, times ln n."""
MODEL_CHANGE_PENALTY = 2.75
"""The same while noise models are compared. It is lower, so that many small steps are not mistaken for memory."""
LEAST_REST = 1e-12
"""The smallest deviance of a point."""
SURE = 20.0
"""Elimination stops when the weakest place costs more deviance than this, times ln n, under every model."""
MEMORY_PENALTY = 6.0
"""The penalty of the deviance for noise with a memory."""


@dataclass(frozen=True)
class Steps:
    """The places of changes, their heights in standard errors, and the memory of the noise with its share."""

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
    # A perfect fit still has a limited precision.
    residual = np.maximum(grams[:, -1, -1] - (slopes * against).sum(axis=1), LEAST_REST * count)
    models, logarithm = np.arange(len(MODELS)), float(np.log(count))
    barred = np.zeros((len(MODELS), many + 1))
    barred[:, 0] = np.inf  # the overall level stays
    stages = [_Stage(slopes, _diagonals(inverse), residual)]
    dropped: list[np.ndarray[Any, np.dtype[np.intp]]] = []
    while len(dropped) < many:
        losses = slopes * slopes / stages[-1].spread + barred
        weakest = losses.argmin(axis=1)
        loss = losses[models, weakest]
        if (loss / residual).min() * count > SURE * logarithm:
            break
        dropped.append(weakest)
        barred[models, weakest] = np.inf
        residual = residual + loss
        column = inverse[models, :, weakest]
        scaled = column / column[models, weakest, None]
        slopes = slopes - scaled * slopes[models, weakest, None]
        inverse = inverse - scaled[:, :, None] * column[:, None, :]
        inverse[models, weakest, weakest] = 1.0  # avoids a division by zero for dropped places
        stages.append(_Stage(slopes, _diagonals(inverse), residual))
    residuals = np.array([stage.residual for stage in stages])
    costs = count * np.log(residuals / count) + deviances
    penalties = logarithm * np.arange(many, many - len(stages), -1)[:, None]
    model = int((costs + MODEL_CHANGE_PENALTY * penalties).min(axis=0).argmin())
    best = int((costs + CHANGE_PENALTY * penalties)[:, model].argmin())
    removed = {0, *(int(weakest[model]) for weakest in dropped[:best])}
    kept = [place for place in range(many + 1) if place not in removed]
    variance = residuals[best, model] / max(count - (many - best) - 2, 1)
    z = stages[best].slopes[model, kept] / np.sqrt(stages[best].spread[model, kept] * variance)
    return Steps(tuple(places[place - 1] for place in kept), tuple(z.tolist()), *MODELS[model])


class _Stage(NamedTuple):
    """By model and place, the step and its variance; by model, the residual deviance."""

    slopes: Numbers
    spread: Numbers
    residual: Vector


def _diagonals(matrices: "np.ndarray[Any, np.dtype[Any]]") -> Numbers:
    """A view of the diagonals."""
    many, size, _ = matrices.shape
    return matrices.reshape(many, size * size)[:, :: size + 1]


def _grams(
    logs: Vector, noise: Vector, places: list[int], weights: "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
) -> "np.ndarray[tuple[int, int, int], np.dtype[np.float64]]":
    """For each model, the products of all pairs of columns: the overall level, the steps and the values."""
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
    """By model, the inverse of the noise's spectrum, for the real and then the imaginary part of each frequency, and
    the model's own deviance."""
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
