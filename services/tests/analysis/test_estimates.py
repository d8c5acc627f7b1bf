"""Estimates and comparisons against known order statistics, other code and laws; coverage by simulation."""

from collections.abc import Sequence

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.estimates import MIN_MEDIAN_INVOCATIONS, are_paired, compare, estimate_median
from kexbench.analysis.rounds import Batches
from kexbench.domain.intervals import Ratio

costs = st.floats(1, 1e9)
samples = st.lists(costs, min_size=3, max_size=15)
pairs = st.lists(st.tuples(costs, costs), min_size=3, max_size=15)


def numbered(values: Sequence[float], name: str = "") -> dict[str, list[float]]:
    """One batch an invocation."""
    return {f"{name}{number}": [float(value)] for number, value in enumerate(values)}


def compared(subject: Batches, against: Batches) -> Ratio:
    found = compare(subject, against)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("count", "rank"), [(6, 1), (8, 1), (9, 2), (10, 2), (12, 3), (20, 6), (25, 8), (30, 10), (100, 40)]
)
def test_the_interval_of_a_median_has_the_ranks_of_the_published_tables(count: int, rank: int) -> None:
    """Conover's table A3, p = 0.5: the largest rank whose two tails hold at most 5%."""
    values = np.random.default_rng(1).permutation(np.arange(1, count + 1)).astype(float)
    found = estimate_median(values.tolist())
    assert (found.low, found.high) == (rank, count + 1 - rank)
    assert (found.value, found.invocations) == ((count + 1) / 2, count)


@pytest.mark.parametrize("count", range(1, MIN_MEDIAN_INVOCATIONS))
def test_a_median_of_fewer_than_six_has_no_interval(count: int) -> None:
    found = estimate_median([3.0, 1.0, 2.0, 5.0, 4.0][:count])
    assert (found.low, found.high, found.invocations) == (None, None, count)


def test_a_constant_has_itself_as_interval() -> None:
    found = estimate_median([5.0] * 10)
    assert (found.low, found.value, found.high) == (5.0, 5.0, 5.0)


@given(st.lists(costs, min_size=6, max_size=20), st.floats(0.001, 1000))
def test_a_median_scales_with_its_unit(values: list[float], scale: float) -> None:
    before, after = estimate_median(values), estimate_median([value * scale for value in values])
    assert before.low is not None
    assert before.high is not None
    assert [after.low, after.value, after.high] == pytest.approx(
        [before.low * scale, before.value * scale, before.high * scale]
    )


def test_three_shared_invocations_are_compared_in_pairs() -> None:
    against = numbered([100, 200, 400])
    found = compared(numbered([110, 220, 440]), against)
    assert [found.low, found.ratio, found.high] == pytest.approx([1.1, 1.1, 1.1])


def test_only_shared_invocations_count_where_there_are_enough() -> None:
    subject = {**numbered([102, 102, 102]), "alone": [9999.0]}
    against = {**numbered([100, 100, 100]), "other": [1.0]}
    assert compared(subject, against) == compared(numbered([102, 102, 102]), numbered([100, 100, 100]))


def test_two_shared_invocations_are_too_few_to_pair() -> None:
    assert not are_paired({"a": [1.0], "b": [1.1], "c": [1.2]}, {"a": [1.0], "b": [1.1], "d": [1.2]})


@pytest.mark.parametrize(("mine", "theirs"), [(2, 9), (9, 2), (2, 2), (0, 5), (0, 0)])
def test_fewer_than_three_invocations_are_not_compared(mine: int, theirs: int) -> None:
    assert compare(numbered([1.0] * mine, "a"), numbered([1.0] * theirs, "b")) is None


@pytest.mark.parametrize("zeros", [[0.0, 5, 5], [0.0, 0, 0]])
def test_zero_has_no_ratio(zeros: list[float]) -> None:
    assert compare(numbered(zeros), numbered([5, 5, 5])) is None
    assert compare(numbered([5, 5, 5], "a"), numbered(zeros)) is None


@given(pairs)
def test_a_paired_ratio_turned_round_is_its_inverse(values: list[tuple[float, float]]) -> None:
    subject, against = numbered([a for a, _ in values]), numbered([b for _, b in values])
    assert are_paired(subject, against)
    assert_inverse(compared(subject, against), compared(against, subject))


@given(samples, samples)
def test_an_unpaired_ratio_turned_round_is_its_inverse(first: list[float], second: list[float]) -> None:
    subject, against = numbered(first, "a"), numbered(second, "b")
    assert not are_paired(subject, against)
    assert_inverse(compared(subject, against), compared(against, subject))


def assert_inverse(there: Ratio, back: Ratio) -> None:
    assert there.ratio * back.ratio == pytest.approx(1)
    assert np.log([there.low, there.high]) == pytest.approx(-np.log([back.high, back.low]), abs=1e-6)


@given(pairs, st.floats(0.001, 1000), st.booleans())
def test_the_unit_of_the_costs_does_not_matter(values: list[tuple[float, float]], scale: float, paired: bool) -> None:
    other = "" if paired else "x"
    before = compared(numbered([a for a, _ in values]), numbered([b for _, b in values], other))
    after = compared(numbered([a * scale for a, _ in values]), numbered([b * scale for _, b in values], other))
    assert after.ratio == pytest.approx(before.ratio)
    assert before.low is not None
    assert after.low is not None
    assert np.log(after.low) == pytest.approx(np.log(before.low), abs=1e-6)


def tukey_mclaughlin(logs: Sequence[float]) -> tuple[float, float, float]:
    """The interval in plain steps: the winsorised sum of squares over h(h-1), as the paper has it, and our freedom."""
    ordered = sorted(logs)
    cut = int(0.2 * len(ordered))
    kept = ordered[cut : len(ordered) - cut]
    winsorised = [kept[0]] * cut + kept + [kept[-1]] * cut
    mean = sum(winsorised) / len(winsorised)
    squares = sum((value - mean) ** 2 for value in winsorised)
    centre, count = sum(kept) / len(kept), len(kept)
    freedom = (count - 1) * (1 - 0.72 * cut / len(ordered))
    reach = scipy.stats.t(freedom).ppf(0.975) * (squares / (count * (count - 1))) ** 0.5
    return centre, centre - reach, centre + reach


@given(pairs)
def test_a_paired_interval_is_that_of_tukey_and_mclaughlin(values: list[tuple[float, float]]) -> None:
    found = compared(numbered([a for a, _ in values]), numbered([b for _, b in values]))
    expected = tukey_mclaughlin([float(np.log(a) - np.log(b)) for a, b in values])
    assert np.log([found.ratio, found.low or 0, found.high or 0]) == pytest.approx(expected, abs=1e-6)


def test_a_paired_interval_worked_by_hand() -> None:
    """Log ratios -9, 1, 2, 3, 9: one cut at each end, kept 1, 2, 3, winsorised 1, 1, 2, 3, 3 with
    sum of squares 4; freedom 2 (1 - 0.72 / 5) = 1.712; 5.07646 (t, 1.712 degrees) times sqrt(4 / 6) is 4.14491."""
    found = compared(numbered(np.exp([3.0, -9, 9, 1, 2]).tolist()), numbered([1] * 5))
    assert np.log([found.low, found.ratio, found.high]) == pytest.approx([2 - 4.14491, 2, 2 + 4.14491], abs=1e-4)


def test_one_wild_invocation_in_five_moves_nothing() -> None:
    calm = compared(numbered([101, 102, 103, 104, 105]), numbered([100] * 5))
    wild = compared(numbered([101, 102, 103, 104, 9999]), numbered([100] * 5))
    assert wild == calm


def test_an_unpaired_interval_is_that_of_welchs_test() -> None:
    random = np.random.default_rng(2)
    first, second = random.lognormal(0, 0.1, 7), random.lognormal(0.2, 0.3, 12)
    found = compared(numbered(first.tolist(), "a"), numbered(second.tolist(), "b"))
    expected = scipy.stats.ttest_ind(np.log(first), np.log(second), equal_var=False).confidence_interval(0.95)
    # scipy has the degrees of freedom to a lower order.
    assert np.log([found.low, found.high]) == pytest.approx([expected.low, expected.high], abs=2e-3)
    assert np.log(found.ratio) == pytest.approx(np.log(first).mean() - np.log(second).mean())


def test_an_unpaired_interval_worked_by_hand() -> None:
    """Both lists have variance 1, so the error is the root of 2/3, with 8 degrees of freedom: 2.30600 times 0.81650."""
    found = compared(numbered(np.exp([4.0, 5, 6]).tolist(), "a"), numbered(np.exp([-1.0, 0, 1]).tolist(), "b"))
    assert np.log([found.low, found.ratio, found.high]) == pytest.approx([5 - 1.88284, 5, 5 + 1.88284], abs=1e-4)


@pytest.mark.parametrize("other", ["", "x"], ids=["paired", "unpaired"])
def test_constants_are_compared_without_any_doubt(other: str) -> None:
    found = compared(numbered([3.0] * 4), numbered([2.0] * 4, other))
    assert [found.low, found.ratio, found.high] == pytest.approx([1.5, 1.5, 1.5])


def test_a_constant_beside_a_varying_vector_is_compared_without_warnings() -> None:
    found = compared(numbered([2.0, 2.0, 2.0], "a"), numbered([2.0, 2.1, 2.2], "b"))
    assert found.low < found.ratio < 1


@pytest.mark.parametrize("paired", [True, False])
def test_intervals_hold_the_truth_about_as_often_as_they_claim(paired: bool) -> None:
    """Ten invocations of 2% noise and a shared 10% drift, 600 times: the interval should miss in 5%."""
    random = np.random.default_rng(3)
    truth, runs, missed = 1.03, 600, 0
    for _ in range(runs):
        drift = random.normal(0, 0.1 if paired else 0.0, 10)
        against = np.exp(drift + random.normal(0, 0.02, 10))
        subject = truth * np.exp(drift + random.normal(0, 0.02, 10))
        found = compared(numbered(subject.tolist()), numbered(against.tolist(), "" if paired else "x"))
        missed += not found.low <= truth <= found.high
    assert 0.02 < missed / runs < 0.09


def test_a_median_interval_holds_the_truth_at_least_as_often_as_it_claims() -> None:
    random = np.random.default_rng(4)
    estimates = [estimate_median(random.lognormal(0, 1, 10).tolist()) for _ in range(600)]
    missed = sum(not (found.low or 0) <= 1 <= (found.high or 0) for found in estimates)
    assert 0.005 < missed / 600 < 0.05  # exactly 2.1%: ranks are whole numbers
