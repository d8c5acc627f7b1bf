"""What the cells of a matrix say of each other's noise: variances are moderated, as limma does for genes.

A cell of three invocations hardly knows its own variance, and forty such cells know well what variances are like
on this machine. Smyth (2004, Linear models and empirical Bayes methods, Statistical Applications in Genetics and
Molecular Biology 3): a cell's true variance is drawn from a scaled inverse chi-squared distribution, the prior, whose
two numbers all cells together tell; a cell's posterior variance is the mean of its own and the prior's, weighted
by their degrees of freedom, and its t has the degrees of freedom of both.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from kexbench.analysis.rounds import Vector

MIN_MODERATED = 3
"""Fewer variances say nothing of what variances are like."""
_TAILS = (np.arange(400) + 0.5) / 400
_KEPT = (0.1, 0.9)
"""Beyond these quantiles of what the prior expects, a log variance counts as if it were there: so a few wild cells
hardly move the prior (Phipson et al. 2016, Annals of Applied Statistics 10, have another way to the same end)."""
_PLAUSIBLE = 0.05
"""A variance that so few are above under the prior is taken as a cell's own, the more the less plausible it is."""
_DOUBT = 4.0
"""The variances of a few cells are alike by chance too often, and their intervals would then be too short. So what they
differ by counts for more: of eight cells a quarter more, of forty a hundredth."""
_FREEDOMS = (0.1, 1e5)


@dataclass(frozen=True)
class Prior:
    """What variances are like: around `variance`, as well known as by so many degrees of freedom."""

    variance: float
    freedom: float


@dataclass(frozen=True)
class Moderated:
    variances: Vector
    freedoms: Vector


def moderate(variances: Vector, freedoms: Vector) -> Moderated:
    """Each variance drawn to what all are like, and the degrees of freedom it then has; as they are where fewer than
    three say anything. The prior counts for no more than all the cells that it comes from."""
    prior = fit_prior(variances, freedoms)
    if prior is None:
        return Moderated(variances, freedoms)
    weight = min(prior.freedom, float(freedoms.sum()))
    lent = weight * np.minimum(1, _above(variances / prior.variance, freedoms, prior.freedom) / _PLAUSIBLE)
    pooled = (lent * prior.variance + freedoms * variances) / (lent + freedoms)
    return Moderated(pooled, np.minimum(lent + freedoms, freedoms.sum()))


def fit_prior(variances: Vector, freedoms: Vector) -> Prior | None:
    """The prior whose log variances have the mean and variance that these have, after both were cut at the same
    quantiles. The cut depends on a cell's degrees of freedom, so cells with few and many invocations mix.
    None with fewer than three variances, and where half of them are zero.
    """
    if len(variances) < MIN_MODERATED or np.median(variances) <= 0:
        return None
    with np.errstate(divide="ignore"):
        logs = np.log(variances)
    low, high = np.log(_FREEDOMS)
    if _excess(logs, freedoms, np.exp(high))[0] <= 0:  # no more alike than chance allows
        return Prior(float(np.exp(_excess(logs, freedoms, np.exp(high))[1])), float(np.inf))
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if _excess(logs, freedoms, np.exp(middle))[0] > 0 else (middle, high)
    return Prior(float(np.exp(_excess(logs, freedoms, np.exp(low))[1])), float(np.exp(low)))


def _excess(logs: Vector, freedoms: Vector, prior: float) -> tuple[float, float]:
    """By how much the log variances differ more than under a prior of so many degrees of freedom, and the prior's log
    variance that fits best."""
    kinds, kind = np.unique(freedoms, return_inverse=True)
    low, high, means, spreads = np.array([_expected(float(freedom), prior) for freedom in kinds]).T[:, kind]
    place = float(np.median(logs - means))
    for _ in range(30):
        step = float((np.clip(logs - place, low, high) - means).mean())
        place += step
        if abs(step) < 1e-6:
            break
    cut = np.clip(logs - place, low, high) - means
    doubt = 1 + (_DOUBT / len(logs)) ** 2
    return float((cut**2).mean() * doubt - spreads.mean()), place


@lru_cache(maxsize=10_000)
def _expected(freedom: float, prior: float) -> tuple[float, float, float, float]:
    """Of a log variance around the prior's: where it is cut, and its mean and variance then."""
    low, high = np.log(scipy.special.fdtri(freedom, prior, _KEPT))
    logs = np.clip(np.log(scipy.special.fdtri(freedom, prior, _TAILS)), low, high)
    return float(low), float(high), float(logs.mean()), float(logs.var())


def _above(ratios: Vector, freedoms: Vector, prior: float) -> Vector:
    """The probability that a variance is as far above the prior's as these are, or farther."""
    found: Vector = np.asarray(scipy.special.fdtrc(freedoms, min(prior, _FREEDOMS[1]), ratios), dtype=float)
    return found
