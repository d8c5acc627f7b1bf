"""Measures how large a slowdown must be to be detected. Slowdowns of known size are injected, and groups of
invocations are tested for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from kexbench.analysis.detectable import POWER
from kexbench.analysis.estimates import CONFIDENCE, Matrix, trimmed_interval
from kexbench.analysis.resampling import Rejections, excludes_one, partition, rejections
from kexbench.analysis.rounds import Vector
from kexbench.domain.intervals import Estimate, Ratio

BOOTSTRAPS = 200
BOOTSTRAP_GROUPS = 600
"""The groups tested for each injection in each bootstrap draw."""


@dataclass(frozen=True)
class InjectionPower:
    """How often an injected slowdown is detected; at 0, the rate of false positives."""

    injected: float
    """As a fraction: 0.002 is 0.2%."""
    measured: Ratio
    """By the whole pool: a check of the injection."""
    invocations: int
    detected: Rejections


@dataclass(frozen=True)
class PowerCurve:
    """One point per injection."""

    group: int
    alpha: float
    injections: tuple[InjectionPower, ...]
    smallest_change: Estimate | None
    """The slowdown that is detected with probability 0.8, a fraction. There is no upper bound if one bootstrap draw in
    forty has no such slowdown, and none at all if the largest injection is not detected often enough."""


def resampled_power(
    ratios_by_injection: "Mapping[float, Sequence[float] | Vector]", group: int, resamples: int, alpha: float, seed: int
) -> PowerCurve:
    """The power of a comparison of `group` invocations, and its smallest detectable change.

    `ratios_by_injection`: the paired log ratios of each invocation, by injected slowdown (a fraction, 0 or more).
    Each pool is divided `resamples` times at random into disjoint groups of `group` invocations. Each group is tested.

    The smallest change is where the probit line through the powers of all injections crosses 0.8:
    power = Phi(a + b log(1 + slowdown)), by maximum likelihood (Finney, Probit Analysis, 3rd edition, chapter 4). It
    stays within the injections. Its 95% interval is from the percentile bootstrap over invocations. In pools of the
    same length, a position counts as one invocation of all of them.

    ValueError for a slowdown below 0, fewer than two slowdowns, or a pool with fewer than two groups.
    """
    pools = {injected: np.asarray(values, dtype=float) for injected, values in sorted(ratios_by_injection.items())}
    if len(pools) < 2 or min(pools) < 0:
        raise ValueError(f"a power curve needs two slowdowns or more, none below 0: got {', '.join(map(str, pools))}")
    random = np.random.default_rng(seed)
    injections = tuple(_injection(injected, pool, group, resamples, alpha, random) for injected, pool in pools.items())
    slowdowns = np.log1p(list(pools))
    crossing = _crossings(
        slowdowns, np.array([[injection.detected.rate.value for injection in injections]]), injections
    )[0]
    change = None
    if 0 < crossing <= slowdowns[-1]:
        draws = _crossings(slowdowns, _bootstrapped_rates(list(pools.values()), group, alpha, random), injections)
        low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
        change = Estimate(
            value=float(np.expm1(crossing)),
            low=float(np.expm1(low)),
            high=float(np.expm1(high)) if np.isfinite(high) else None,
        )
    return PowerCurve(group, alpha, injections, change)


def _injection(
    injected: float, pool: Vector, group: int, resamples: int, alpha: float, random: np.random.Generator
) -> InjectionPower:
    detected = rejections(pool, group, resamples, alpha, random)
    if detected is None:
        raise ValueError(f"{len(pool)} invocations at a slowdown of {injected} do not make two groups of {group}")
    return InjectionPower(injected, Ratio.of_logs(*trimmed_interval(pool)), len(pool), detected)


def _bootstrapped_rates(pools: list[Vector], group: int, alpha: float, random: np.random.Generator) -> Matrix:
    """The share of groups with a significant change: one row per bootstrap draw, one column per pool."""
    rates = np.empty((BOOTSTRAPS, len(pools)))
    for row in rates:
        places = random.random(max(map(len, pools)))
        for column, pool in enumerate(pools):
            drawn = pool[(places[: len(pool)] * len(pool)).astype(int)]
            partitions = -(-BOOTSTRAP_GROUPS // (len(pool) // group))
            row[column] = excludes_one(drawn[partition(len(pool), group, partitions, random)], alpha).mean()
    return rates


def _crossings(slowdowns: Vector, rates: Matrix, injections: Sequence[InjectionPower]) -> Vector:
    """Where the probit line of each row of rates crosses POWER; infinite if the line does not rise.

    Fisher scoring of all rows at once. Rates are kept half a test away from 0 and 1, so that the line of a power that
    jumps from 0 to 1 stays finite.
    """
    tests = np.array([injection.detected.tests for injection in injections])
    observed = np.clip(rates, 0.5 / tests, 1 - 0.5 / tests)
    design = np.column_stack([np.ones_like(slowdowns), slowdowns / slowdowns[-1]])
    lines = np.linalg.lstsq(design, scipy.stats.norm.ppf(observed).T, rcond=None)[0].T
    for _ in range(50):
        linear = np.clip(lines @ design.T, -6, 6)
        expected, density = scipy.stats.norm.cdf(linear), scipy.stats.norm.pdf(linear)
        weights = tests * density**2 / (expected * (1 - expected))
        information = np.einsum("rk,ki,kj->rij", weights, design, design)
        score = np.einsum("rk,ki->ri", weights * (observed - expected) / density, design)
        step = np.linalg.solve(information, score[:, :, np.newaxis])[:, :, 0]
        lines += step
        if np.abs(step).max() < 1e-8:
            break
    rising = lines[:, 1] > 0
    crossings = np.full(len(rates), np.inf)
    crossings[rising] = (scipy.stats.norm.ppf(POWER) - lines[rising, 0]) / lines[rising, 1] * slowdowns[-1]
    bounded: Vector = np.maximum(crossings, 0)
    return bounded
