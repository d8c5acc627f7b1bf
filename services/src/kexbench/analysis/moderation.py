"""The noise of cells, estimated from all cells of a matrix: variances are moderated, as limma does for genes.

A cell of three invocations hardly knows its own variance. But forty such cells show what variances are typical on this
machine. Smyth (2004, Linear models and empirical Bayes methods, Statistical Applications in Genetics and Molecular
Biology 3): the true variance of a cell is drawn from a scaled inverse chi-squared distribution, the prior. All cells
together estimate its two parameters. The posterior variance of a cell is the mean of its own and the prior's, weighted
by their degrees of freedom, and its t has the degrees of freedom of both.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from kexbench.analysis.rounds import Vector

MIN_MODERATED = 3
"""Fewer variances cannot estimate the prior."""
_TAILS = (np.arange(400) + 0.5) / 400
_KEPT = (0.1, 0.9)
"""Log variances are clipped at these quantiles of the prior, so that a few noisy cells hardly move it (Phipson et al.
2016, Annals of Applied Statistics 10, have another method for this)."""
_PLAUSIBLE = 0.05
"""A variance with a smaller upper tail probability under the prior counts increasingly as the cell's own."""
_DOUBT = 4.0
"""The variances of a few cells are often alike by chance, and their intervals would be too short. So their differences
count for more: for eight cells a quarter more, for forty 1% more."""
_FREEDOMS = (0.1, 1e5)
_STEPS = 256
_LOG_PRIORS = tuple(np.linspace(np.log(_FREEDOMS[0]), np.log(_FREEDOMS[1]), _STEPS + 1).tolist())
"""Degrees of freedom of priors for which is known what to expect."""


@dataclass(frozen=True)
class Prior:
    """The distribution of variances: around `variance`, with the weight of `freedom` degrees of freedom."""

    variance: float
    freedom: float


@dataclass(frozen=True)
class Moderated:
    variances: Vector
    freedoms: Vector


def moderate(variances: Vector, freedoms: Vector) -> Moderated:
    """Each variance moved towards the prior, with its new degrees of freedom. Without a prior they are unchanged. The
    prior has at most the weight of all the cells that it comes from."""
    prior = fit_prior(variances, freedoms)
    if prior is None:
        return Moderated(variances, freedoms)
    weight = min(prior.freedom, float(freedoms.sum()))
    prior_freedoms = weight * np.minimum(1, _above(variances / prior.variance, freedoms, prior.freedom) / _PLAUSIBLE)
    pooled = (prior_freedoms * prior.variance + freedoms * variances) / (prior_freedoms + freedoms)
    return Moderated(pooled, np.minimum(prior_freedoms + freedoms, freedoms.sum()))


def fit_prior(variances: Vector, freedoms: Vector) -> Prior | None:
    """The prior whose log variances have the same mean and variance as these, both clipped at the same quantiles. The
    quantiles depend on a cell's degrees of freedom, so cells with few and many invocations mix. None with fewer than
    three variances, or if half of them are zero.
    """
    if len(variances) < MIN_MODERATED or 2 * np.count_nonzero(variances) <= len(variances):
        return None
    with np.errstate(divide="ignore"):
        logs = np.log(variances)
    kinds, kind = np.unique(freedoms, return_inverse=True)
    low, high = _LOG_PRIORS[0], _LOG_PRIORS[-1]
    excess, place = _excess(logs, kinds, kind, high)
    if excess <= 0:  # no more different than by chance
        return Prior(float(np.exp(place)), float(np.inf))
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if _excess(logs, kinds, kind, middle)[0] > 0 else (middle, high)
    return Prior(float(np.exp(_excess(logs, kinds, kind, low)[1])), float(np.exp(low)))


def _excess(
    logs: Vector, kinds: Vector, kind: "np.ndarray[tuple[int], np.dtype[np.int64]]", log_prior: float
) -> tuple[float, float]:
    """How much more the log variances differ than under a prior whose degrees of freedom have this logarithm, and the
    best log variance of that prior. `kind`: of each, the number of its degrees of freedom among `kinds`."""
    expected = np.array([_expected(float(freedom), log_prior) for freedom in kinds])
    low, high, means, spreads = expected.T[:, kind]
    place = float(np.median(logs - means))
    for _ in range(30):  # NumPy's clip and mean would take twice as long with so few values
        clipped = np.minimum(np.maximum(logs - place, low), high)
        step = float(np.add.reduce(clipped - means)) / len(logs)
        place += step
        if abs(step) < 1e-6:
            break
    residuals = np.clip(logs - place, low, high) - means
    doubt = 1 + (_DOUBT / len(logs)) ** 2
    return float((residuals**2).mean() * doubt - spreads.mean()), place


def _expected(freedom: float, log_prior: float) -> Vector:
    """For a log variance relative to the prior's: where it is clipped, and its mean and variance after that. Between
    the steps by the cubic through the four nearest, to seven digits: a step takes milliseconds."""
    position = (log_prior - _LOG_PRIORS[0]) / (_LOG_PRIORS[1] - _LOG_PRIORS[0])
    step = round(position)
    if abs(position - step) < 1e-9:
        return _expected_at(freedom, step)
    first = min(max(int(position) - 1, 0), _STEPS - 3)
    at = position - first
    weights = (
        (at - 1) * (at - 2) * (at - 3) / -6,
        at * (at - 2) * (at - 3) / 2,
        at * (at - 1) * (at - 3) / -2,
        at * (at - 1) * (at - 2) / 6,
    )
    expected: Vector = np.dot(weights, _expected_from(freedom, first))
    return expected


@lru_cache(maxsize=10_000)
def _expected_from(freedom: float, step: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """At four steps."""
    return np.array([_expected_at(freedom, each) for each in range(step, step + 4)])


@lru_cache(maxsize=10_000)
def _expected_at(freedom: float, step: int) -> Vector:
    prior = np.exp(_LOG_PRIORS[step])
    low, high = np.log(scipy.special.fdtri(freedom, prior, _KEPT))
    logs = np.clip(np.log(scipy.special.fdtri(freedom, prior, _TAILS)), low, high)
    return np.array([low, high, logs.mean(), logs.var()])


def _above(ratios: Vector, freedoms: Vector, prior: float) -> Vector:
    """The probability of ratios to the prior's variance at least as large as these."""
    chances: Vector = np.asarray(scipy.special.fdtrc(freedoms, min(prior, _FREEDOMS[1]), ratios), dtype=float)
    return chances
