"""The degrees of freedom of a difference of two means, neither of whose variances is known but from its own sample.

The squared errors of two independent means add up, and their difference over the root of the sum has nearly Student's
t distribution. Its degrees of freedom depend on the true variances, which nobody knows. Satterthwaite (1946) puts those
of the samples in their place, which is not good enough for short lists: from three invocations on, 95% intervals of
normal noise then hold the truth in 92.2% to 96.5%, the least of lists of unlike length. Welch (1947, The generalization
of "Student's" problem when several different population variances are involved, Biometrika 34; Aspin 1948, Biometrika
35) gives the reach of the interval as a series in the lists' own degrees, whose first term is Satterthwaite's. Here are
the degrees with which Student's t has its second term as well: 93.9% to 96.0%, whatever the two variances are.

A test asks for the tails farther out, which are heavier than those of any one t, so it goes by the fewer of both: at
0.1% that of three against three would else be wrong 1.7 times as often as it says; so it is 0.4 times.
"""

import numpy as np

from kexbench.analysis.rounds import Vector

_LEVEL = 2.22
"""The quantile of the normal distribution that the second term is taken at. At that of 95% intervals, 1.96, those of
three against ten to thirty equally noisy ones fall short by up to 1.2 in a hundred; a little above, by 1 at most."""
_THIRD = 4 / 3 * (3 + 5 * _LEVEL**2 + _LEVEL**4) / (1 + _LEVEL**2)


def satterthwaite_freedom(squares: Vector, freedoms: Vector) -> float:
    """The degrees of freedom of a sum of squared errors, not all of which are 0, to the first term."""
    shares = squares / squares.sum()
    return float(1 / (shares**2 / freedoms).sum())


def welch_freedom(squares: Vector, freedoms: Vector) -> float:
    """The degrees of freedom of a sum of squared errors, not all of which are 0, to the second term.

    Of shares c_i of the sum with f_i degrees, and S = sum(c_i^2 / f_i):
    1 / f = S - 2 sum(c_i^2 / f_i^2) + a sum(c_i^3 / f_i^2) - (a - 2) S^2, a = 4/3 (3 + 5 z^2 + z^4) / (1 + z^2).
    Where one list has all of the sum these are its own degrees. Never fewer than the fewest, nor more than twice all.
    """
    shares = squares / squares.sum()
    first = 1 / satterthwaite_freedom(squares, freedoms)
    second = (_THIRD * shares - 2) * shares**2 / freedoms**2
    inverse = first + second.sum() - (_THIRD - 2) * first**2
    return float(1 / np.clip(inverse, 1 / (2 * freedoms.sum()), 1 / freedoms.min()))
