"""Throughput by threads: Gunther's Universal Scalability Law, and the efficiency of each thread count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
import scipy

from kexbench.analysis.estimates import CONFIDENCE, MIN_COMPARED_INVOCATIONS, TRIM, Matrix, compare
from kexbench.analysis.rounds import Vector
from kexbench.domain.intervals import Estimate

BOOTSTRAPS = 400
NEGLIGIBLE = 1e-9
"""The search stops within this distance of the bound at 0."""
_Array = TypeVar("_Array", Vector, Matrix)


@dataclass(frozen=True)
class ScalingFit:
    """X(N) = rate_1 N / (1 + contention (N - 1) + coherency N (N - 1)), X a throughput. Without intervals if a thread
    count has fewer than three invocations."""

    rate_1: Estimate
    """Throughput of one thread, in the unit of the throughputs."""
    contention: Estimate
    """The share of the work that is serial; at 0, throughput is proportional to the threads."""
    coherency: Estimate | None
    """The cost of each thread for each other thread, due to which throughput falls in the end. None with two thread
    counts: they cannot separate it from contention, so contention includes it."""

    def rate(self, threads: float) -> float:
        """Throughput of `threads` threads."""
        pairwise = threads * (threads - 1) * (self.coherency.value if self.coherency else 0.0)
        return self.rate_1.value * threads / (1 + self.contention.value * (threads - 1) + pairwise)

    @property
    def peak_threads(self) -> float | None:
        """The threads with the highest throughput: sqrt((1 - contention) / coherency), at least 1. None if the fitted
        throughput grows without limit. Far beyond the measured thread counts it is a guess."""
        contention, coherency = self.contention.value, self.coherency.value if self.coherency else 0.0
        if contention > 1 or (contention == 1 and coherency > 0):
            return 1.0
        return max(1.0, float(np.sqrt((1 - contention) / coherency))) if coherency > 0 else None


def fit_scaling(
    rates: Mapping[int, Sequence[float]], *, seed: int = 0, bootstraps: int = BOOTSTRAPS
) -> ScalingFit | None:
    """Fit the law to throughputs of each invocation, by thread count.

    Gunther, Guerrilla Capacity Planning (2007), chapter 4. The 20% trimmed mean of the logs of each thread count is one
    point. The fit is least squares on the logs, with coefficients of at least 0. The intervals are percentiles of a
    bootstrap over the invocations of each thread count. It draws one invocation less than there are, so that its
    variance is unbiased (McCarthy & Snowden 1985).

    None with fewer than two thread counts, or if a throughput is not above 0. ValueError for a thread count below 1.
    """
    if min(rates, default=1) < 1:
        raise ValueError(f"thread counts start at 1, got {min(rates)}")
    samples = {threads: np.asarray(values, dtype=float) for threads, values in sorted(rates.items()) if len(values)}
    if len(samples) < 2 or not all((values > 0).all() and np.isfinite(values).all() for values in samples.values()):
        return None
    threads = np.array(list(samples), dtype=float)
    logs = [np.log(values) for values in samples.values()]
    points = np.array([scipy.stats.trim_mean(values, TRIM) for values in logs])
    fitted = _fit(threads, points, _linear_fit(threads, points))
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * len(fitted)
    if min(map(len, logs)) >= MIN_COMPARED_INVOCATIONS:
        draws = _bootstrapped(logs, bootstraps, np.random.default_rng(seed))
        fits = [_fit(threads, drawn, fitted[1:]) for drawn in draws]
        lowest, highest = np.quantile(fits, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
        bounds = list(zip(lowest.tolist(), highest.tolist(), strict=True))
    coefficients = [
        Estimate(value=float(value), low=low, high=high) for value, (low, high) in zip(fitted, bounds, strict=True)
    ]
    return ScalingFit(coefficients[0], coefficients[1], coefficients[2] if len(coefficients) > 2 else None)


@dataclass(frozen=True)
class Together:
    """One invocation with several threads: handshakes per second of wall time of all threads together, and of one
    thread while the others sleep, each thread in turn on its own CPU."""

    rate: float
    alone_rate: float


def efficiency(threads: int, invocations: Mapping[str, Together]) -> Estimate | None:
    """X(N) / (N A(N)): 1 if every thread does as much as it does alone. Both rates of an invocation come from the same
    process on the same CPUs at the same time, so that neither a fast CPU nor a fast phase of the machine is in their
    ratio. None with fewer than three invocations."""
    together = {unit: (each.rate,) for unit, each in invocations.items()}
    alone = {unit: (each.alone_rate,) for unit, each in invocations.items()}
    ratio = compare(together, alone)
    if ratio is None:
        return None
    value, low, high = (bound / threads for bound in (ratio.ratio, ratio.low, ratio.high))
    return Estimate(value=value, low=low, high=high)


def relative_rates(invocations: Mapping[int, Mapping[str, Together]]) -> dict[int, list[float]]:
    """Throughputs in units of one thread alone, by thread count, as `fit_scaling` takes them. One thread has 1."""
    rates = {
        threads: [each.rate / each.alone_rate for each in by_unit.values()] for threads, by_unit in invocations.items()
    }
    return {1: [1.0] * min(map(len, rates.values())), **rates} if rates else {}


def _bootstrapped(logs: Sequence[Vector], bootstraps: int, random: np.random.Generator) -> Matrix:
    """Points of resampled invocations: one row per draw, one column per thread count."""
    drawn = [random.choice(values, size=(bootstraps, len(values) - 1)) for values in logs]
    return np.column_stack([scipy.stats.trim_mean(values, TRIM, axis=1) for values in drawn])


def _terms(threads: Vector) -> Matrix:
    """The factors of contention and coherency; with two thread counts only of contention."""
    return np.column_stack([threads - 1, threads * (threads - 1)])[:, : len(threads) - 1]


def _linear_fit(threads: Vector, points: Vector) -> Vector:
    """A good start of the search: N / X is linear in 1 / rate_1 and its products with the coefficients."""
    inverse = np.exp(np.log(threads) - points)
    design = np.column_stack([np.ones_like(threads), _terms(threads)]) / inverse[:, np.newaxis]
    scale, *products = scipy.optimize.nnls(design, np.ones_like(threads))[0]
    return np.array(products) / scale if scale > 0 else np.ones(len(products))


def _fit(threads: Vector, points: Vector, start: Vector) -> Vector:
    """(rate_1, contention, and coherency if it can be separated) from log throughputs. For given coefficients the best
    rate_1 is a mean of logs, so the search is only over the coefficients."""
    terms, per_thread = _terms(threads), points - np.log(threads)

    def residuals(coefficients: Vector) -> Vector:
        return _centred(per_thread + np.log1p(terms @ coefficients))

    def slopes(coefficients: Vector) -> Matrix:
        return _centred(terms / (1 + terms @ coefficients)[:, np.newaxis])

    coefficients = scipy.optimize.least_squares(residuals, start, jac=slopes, bounds=(0, np.inf)).x
    coefficients = np.where(coefficients < NEGLIGIBLE, 0.0, coefficients)
    return np.array([np.exp((per_thread + np.log1p(terms @ coefficients)).mean()), *coefficients])


def _centred(values: _Array) -> _Array:
    """The values around their mean over thread counts, the first dimension."""
    return cast(_Array, values - values.mean(axis=0))
