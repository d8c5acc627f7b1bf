"""Figures and their intervals, as cells of tables."""

import math

import pytest

from bench.scorecard.figures import bootstrapped, median, rate, share, two_digits


def test_a_share_has_wilsons_interval() -> None:
    cell = share(3, 200)
    assert cell.text == "3 of 200: 1.5% [0.5%, 4.3%]"
    assert (cell.value, cell.low, cell.high) == pytest.approx((0.015, 0.0051, 0.0431), abs=1e-4)


def test_a_share_of_tests_that_are_worth_fewer_is_known_less_well() -> None:
    few, many = share(3, 200, effective=20), share(3, 200)
    assert few.high is not None
    assert many.high is not None
    assert few.high > many.high
    assert share(0, 0).text == "–"


def test_a_statistic_of_sums_is_bootstrapped_over_series() -> None:
    counts = [(1, 0), (1, 0), (0, 1), (1, 0)] * 10
    cell = bootstrapped(counts, lambda sums: float(sums[0] / sums.sum()), two_digits)
    assert cell.value == 0.75
    assert cell.low is not None
    assert cell.high is not None
    assert 0.55 < cell.low < 0.75 < cell.high < 0.95
    assert cell == bootstrapped(counts, lambda sums: float(sums[0] / sums.sum()), two_digits)


def test_what_is_not_defined_is_shown_as_nothing() -> None:
    assert bootstrapped([(0, 0)] * 3, lambda _: math.nan, two_digits).text == "–"


def test_a_rate_of_nothing_has_poissons_upper_bound() -> None:
    cell = rate([(0, 500), (0, 500)], 1000, two_digits)
    assert cell.value == 0
    assert cell.high == pytest.approx(3.689, abs=0.001)


def test_a_rate_counts_events_over_all_units() -> None:
    cell = rate([(0, 500), (1, 1500)] * 4, 1000, two_digits)
    assert cell.value == 0.5
    assert rate([(0, 0)], 1000, two_digits).text == "–"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([3.0] * 7, "3 [3, 3]"),
        ([1.0, 2.0, 2.0, 3.0, math.inf, math.inf], "3 [1, never]"),
        ([math.inf] * 6, "never [never, never]"),
        ([], "–"),
    ],
)
def test_a_median_of_delays_may_be_never(values: list[float], text: str) -> None:
    cell = median(values)
    assert cell.text == text
    assert cell.high is None or math.isfinite(cell.high)
