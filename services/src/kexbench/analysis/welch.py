"""The degrees of freedom of a difference of two means whose variances are known only from their samples.

The squared errors of two independent means add up. Their difference over the root of the sum has nearly Student's t
distribution, whose degrees of freedom depend on the unknown true variances. Satterthwaite (1946) uses the sample
variances instead, which is not good enough for short lists: from three invocations on, 95% intervals of normal noise
then cover the true value in 92.2% to 96.5%, the least for lists of different length. Welch (1947, The generalization of
"Student's" problem when several different population variances are involved, Biometrika 34; Aspin 1948, Biometrika 35)
gives the interval as a series in the lists' own degrees of freedom. Its first term is Satterthwaite's. The degrees here
include the second term: 93.9% to 96.0%, whatever the two variances are.

A test needs the outer tails, which are heavier than those of any single t. So it uses the smaller of both degrees. At
0.1%, three against three invocations would otherwise be wrong 1.7 times as often as stated; so it is 0.4 times.
"""

import numpy as np

from kexbench.analysis.rounds import Vector

_LEVEL = 2.22
"""The normal quantile of the second term. At 1.96, that of 95% intervals, the coverage of three against ten to thirty
equally noisy invocations is up to 1.2 percentage points too low; at this larger value at most 1."""
_THIRD = 4 / 3 * (3 + 5 * _LEVEL**2 + _LEVEL**4) / (1 + _LEVEL**2)


def satterthwaite_freedom(squares: Vector, freedoms: Vector) -> float:
    """The degrees of freedom of a sum of squared errors, not all 0, to the first term."""
    shares = squares / squares.sum()
    return float(1 / (shares**2 / freedoms).sum())


def welch_freedom(squares: Vector, freedoms: Vector) -> float:
    """The degrees of freedom of a sum of squared errors, not all 0, to the second term.

    For shares c_i of the sum with f_i degrees, and S = sum(c_i^2 / f_i):
    1 / f = S - 2 sum(c_i^2 / f_i^2) + a sum(c_i^3 / f_i^2) - (a - 2) S^2, a = 4/3 (3 + 5 z^2 + z^4) / (1 + z^2).
    If one list has all of the sum, these are its own degrees. Never below the smallest, nor above twice the sum of all.
    """
    shares = squares / squares.sum()
    first = 1 / satterthwaite_freedom(squares, freedoms)
    second = (_THIRD * shares - 2) * shares**2 / freedoms**2
    inverse = first + second.sum() - (_THIRD - 2) * first**2
    return float(1 / np.clip(inverse, 1 / (2 * freedoms.sum()), 1 / freedoms.min()))
