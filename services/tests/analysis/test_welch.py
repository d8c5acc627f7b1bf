"""The degrees of freedom of a difference: by hand, at their limits, and how often their intervals hold the truth."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.welch import satterthwaite_freedom, welch_freedom

squares = st.floats(1e-9, 1e9)
freedoms = st.floats(1, 1000)


def of(*parts: tuple[float, float]) -> float:
    """Of squared errors and their degrees of freedom."""
    errors, known = np.array(parts).T
    return welch_freedom(errors, known)


def test_two_lists_of_three_that_scatter_alike_by_hand() -> None:
    """Halves: S = 1/4, the sums 1/8 and 1/16, so a drops out: 1 / (1/4 - 2/8 + 2/16) = 8."""
    assert of((3, 2), (3, 2)) == pytest.approx(8)


def test_unequal_lists_by_hand() -> None:
    """Shares 3/4 with 2 degrees and 1/4 with 9: S = 0.28819, the sums 0.14139 and 0.10566; a = 11.6796.
    0.28819 - 0.28279 + 1.23407 - 0.80395 = 0.43552."""
    assert of((3, 2), (1, 9)) == pytest.approx(1 / 0.43552, rel=1e-4)


@given(squares, freedoms, freedoms)
def test_a_list_that_has_all_of_the_error_has_all_of_the_say(error: float, mine: float, others: float) -> None:
    assert of((error, mine), (0, others)) == pytest.approx(mine)


@given(squares, squares, freedoms, freedoms, st.floats(1e-3, 1e3))
def test_neither_order_nor_unit_matters(a: float, b: float, f: float, g: float, unit: float) -> None:
    assert of((a, f), (b, g)) == pytest.approx(of((b * unit, g), (a * unit, f)))


@given(squares, squares, freedoms, freedoms)
def test_the_degrees_lie_between_the_fewest_and_twice_all(a: float, b: float, f: float, g: float) -> None:
    assert min(f, g) * (1 - 1e-9) <= of((a, f), (b, g)) <= 2 * (f + g) * (1 + 1e-9)


@given(squares, squares, st.floats(500, 1e5), st.floats(500, 1e5))
def test_of_long_lists_they_are_those_of_satterthwaite(a: float, b: float, f: float, g: float) -> None:
    assert of((a, f), (b, g)) == pytest.approx(satterthwaite_freedom(np.array([a, b]), np.array([f, g])), rel=0.05)


def test_satterthwaites_degrees_by_hand() -> None:
    """Shares 3/4 and 1/4: 1 / (9/32 + 1/144)."""
    assert satterthwaite_freedom(np.array([3.0, 1.0]), np.array([2.0, 9.0])) == pytest.approx(1 / (9 / 32 + 1 / 144))


def coverage(sizes: tuple[int, int], ratio: float, confidence: float) -> float:
    """How often the interval of the difference of two normal means holds the truth. `ratio`: of the variances.

    By quadrature over the first list's share c in the squared error, whose true share is s. Given c, the difference
    over its error is Student's t with f1 + f2 degrees, times the root of (f1 c / s + f2 (1 - c) / (1 - s)) / (f1 + f2).
    """
    known = np.array(sizes) - 1.0
    odds = ratio * sizes[1] / sizes[0]
    found = odds * scipy.stats.f(*known).ppf((np.arange(1000) + 0.5) / 1000)
    shares = np.array([found, np.ones(1000)]) / (1 + found)
    true = np.array([odds, 1]) / (1 + odds)
    scale = np.sqrt((known * shares.T / true).sum(axis=1) / known.sum())
    reach = scipy.stats.t.ppf((1 + confidence) / 2, [welch_freedom(both, known) for both in shares.T])
    return float(1 - 2 * scipy.stats.t(known.sum()).sf(reach / scale).mean())


SIZES = [
    (3, 3),
    (3, 4),
    (3, 5),
    (3, 10),
    (3, 17),
    (3, 30),
    (3, 200),
    (4, 10),
    (5, 5),
    (5, 10),
    (5, 30),
    (10, 10),
    (10, 30),
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_intervals_hold_the_truth_whatever_the_variances_are(sizes: tuple[int, int]) -> None:
    ratios = 10.0 ** np.arange(-4, 4.1, 0.5)
    shares = [coverage(sizes, ratio, 0.95) for ratio in ratios]
    assert min(shares) > 0.939
    assert max(shares) < 0.96


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_of_equally_noisy_lists_they_are_right_within_a_hundredth(sizes: tuple[int, int]) -> None:
    assert coverage(sizes, 1, 0.95) == pytest.approx(0.95, abs=0.01)


def test_the_quadrature_is_right_where_the_answer_is_known() -> None:
    """A list without noise: Student's t of the other alone."""
    assert coverage((3, 10), 1e12, 0.95) == pytest.approx(0.95, abs=1e-4)
