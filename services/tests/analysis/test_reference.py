"""Published and measured tables side by side, and the pairs that stand the other way round."""

import pytest

from kexbench.analysis.reference import NS_PER_SECOND, measured_ratios, measured_rows, rate_of, rate_ratio, swaps
from kexbench.domain.intervals import Estimate
from kexbench.domain.plans import ReferenceRatio, ReferenceRatios, ReferenceRow, ReferenceTable

TABLE = ReferenceTable(
    title="published",
    baseline="rsa",
    rows=(
        ReferenceRow(case_id="dhe", rate=100),
        ReferenceRow(case_id="ecdhe", rate=300),
        ReferenceRow(case_id="rsa", rate=400),
    ),
)


def around(rate: float, spread: float = 0.001) -> list[float]:
    """Six invocation medians, in nanoseconds, of about so many handshakes a second."""
    return [NS_PER_SECOND / rate * (1 + spread * step) for step in (-2, -1, 0, 0, 1, 2)]


def test_a_cost_becomes_a_rate_with_its_bounds_the_other_way_round() -> None:
    rate = rate_of(Estimate(value=2e6, low=1e6, high=4e6, invocations=10))
    assert (rate.low, rate.value, rate.high) == (250, 500, 1000)
    assert rate_of(Estimate.whole(2e6)).low is None


def test_a_rate_ratio_is_above_one_for_what_is_faster() -> None:
    ratio = rate_ratio(around(800), around(400))
    assert ratio is not None
    assert ratio.ratio == pytest.approx(2, rel=0.01)


def test_cases_are_never_paired_however_their_invocations_are_numbered() -> None:
    ratio = rate_ratio([1, 10, 100], [1.001, 10.01, 100.1])
    assert ratio is not None
    assert (ratio.low < 0.5, ratio.high > 2) == (True, True)


def test_rows_keep_their_order_and_hold_both_ratios_to_the_baseline() -> None:
    rows = measured_rows(TABLE, {"rsa": around(4000), "dhe": around(2000)})
    assert [row.case_id for row in rows] == ["dhe", "ecdhe", "rsa"]
    assert [row.published_ratio for row in rows] == [0.25, 0.75, 1]
    dhe, ecdhe, rsa = rows
    assert dhe.rate is not None
    assert dhe.ratio is not None
    assert rsa.ratio is not None
    assert dhe.rate.value == pytest.approx(2000)
    assert dhe.ratio.ratio == pytest.approx(0.5, rel=0.01)
    assert (rsa.ratio.low, rsa.ratio.ratio, rsa.ratio.high) == (1, 1, 1)
    assert (ecdhe.rate, ecdhe.ratio) == (None, None)


@pytest.mark.parametrize("baseline", [None, [], [0.0, 1.0, 2.0]])
def test_without_a_usable_baseline_there_are_rates_and_no_ratios(baseline: list[float] | None) -> None:
    medians = {"dhe": around(2000)} | ({} if baseline is None else {"rsa": baseline})
    dhe, _, rsa = measured_rows(TABLE, medians)
    assert dhe.rate is not None
    assert (dhe.ratio, rsa.rate) == (None, None)


def test_a_swap_is_a_pair_that_surely_stands_the_other_way_round() -> None:
    found = swaps(TABLE, {"dhe": around(900), "ecdhe": around(300), "rsa": around(1000)})
    assert [(swap.faster_here, swap.slower_here) for swap in found] == [("dhe", "ecdhe")]
    assert found[0].ratio.ratio == pytest.approx(3, rel=0.01)


def test_the_published_order_has_no_swaps() -> None:
    assert swaps(TABLE, {"dhe": around(1), "ecdhe": around(2), "rsa": around(3)}) == []


def test_an_order_that_may_be_chance_or_is_hardly_different_is_no_swap() -> None:
    assert swaps(TABLE, {"dhe": around(1010, spread=0.05), "ecdhe": around(1000, spread=0.05)}) == []
    assert swaps(TABLE, {"dhe": around(1002, spread=0), "ecdhe": around(1000, spread=0)}) == []


def test_rows_of_equal_published_rates_have_no_order_to_swap() -> None:
    level = TABLE.model_copy(
        update={"rows": (ReferenceRow(case_id="dhe", rate=5), ReferenceRow(case_id="rsa", rate=5))}
    )
    assert swaps(level, {"dhe": around(1), "rsa": around(9)}) == []


def test_cases_without_numbers_take_part_in_no_swap() -> None:
    assert swaps(TABLE, {"dhe": around(900)}) == []


RATIOS = ReferenceRatios(
    title="published",
    rows=(
        ReferenceRatio(case_id="ecdsa", relative_to="rsa", ratio=2.7),
        ReferenceRatio(case_id="dhe", relative_to="rsa", ratio=0.3),
        ReferenceRatio(case_id="ecdsa", relative_to="dhe", ratio=0.5),
        ReferenceRatio(case_id="equal", relative_to="rsa", ratio=1.03),
        ReferenceRatio(case_id="missing", relative_to="rsa", ratio=2),
        ReferenceRatio(case_id="ecdsa", relative_to="rsa", ratio=1),
    ),
)


def test_ratios_are_of_rates_and_say_whether_the_order_is_the_published_one() -> None:
    levels = {"rsa": around(400), "ecdsa": around(800), "dhe": around(100), "equal": around(400)}
    measured = measured_ratios(RATIOS, levels)
    assert [(row.case_id, row.relative_to, row.published_ratio) for row in measured] == [
        (row.case_id, row.relative_to, row.ratio) for row in RATIOS.rows
    ]
    assert [row.order for row in measured] == ["as published", "as published", "opposite", "unresolved", None, None]
    assert [row.ratio and round(row.ratio.ratio, 2) for row in measured] == [2.0, 0.25, 8.0, 1.0, None, 2.0]
    first = measured[0].ratio
    assert first is not None
    assert first.low < 2 < first.high


@pytest.mark.parametrize("few", [[], [0.0, 1.0, 2.0], [2e6]])
def test_a_case_without_enough_invocations_has_no_ratio(few: list[float]) -> None:
    (first, *_) = measured_ratios(RATIOS, {"rsa": around(400), "ecdsa": few})
    assert (first.ratio, first.order) == (None, None)
