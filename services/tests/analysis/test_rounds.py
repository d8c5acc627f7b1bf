"""The ratio of two subjects in one invocation: what belongs to a round is compared, and nothing else."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.rounds import all_positive, by_round, interquartile_mean, log_ratios, medians
from kexbench.domain.batches import LOG_STEPS

costs = st.floats(1, 1e9)
batches = st.lists(st.tuples(costs, costs), min_size=1, max_size=30)


def test_a_ratio_worked_by_hand() -> None:
    """Rounds of 1.1, 1.2 and 9, of which the middle one counts; the ratio of the medians would be 2.4 / 2."""
    found = log_ratios({"a": [1.1, 2.4, 27.0]}, {"a": [1.0, 2.0, 3.0]})
    assert np.exp(found) == pytest.approx([1.2])


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([7], 7),
        ([1, 3], 2),
        ([1, 2, 90], 2),
        ([90, 1, 2, 4], 3),
        ([1, 2, 3, 4, 90], 3),
        ([0, 1, 2, 3, 4, 6, 90, 99], 3.75),
    ],
)
def test_a_quarter_at_each_end_does_not_count(values: list[float], mean: float) -> None:
    assert interquartile_mean(np.array(values, dtype=float)) == mean


def test_a_machine_that_changes_its_speed_amid_a_round_is_not_in_the_ratio() -> None:
    """It is 20% slower from the middle of the sixth of eleven rounds on: six slow batches of one subject, five of the
    other, so their medians differ by all of it."""
    one, two = {"a": [1.0] * 5 + [1.2] * 6}, {"a": [1.0] * 6 + [1.2] * 5}
    assert medians(one) / medians(two) == pytest.approx([1.2])
    assert log_ratios(one, two).tolist() == [0]


@given(batches, st.randoms())
def test_the_order_of_rounds_does_not_matter(values: list[tuple[float, float]], random: Random) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert ratio_of(shuffled) == ratio_of(values)


@given(batches)
def test_turned_round_it_is_the_inverse(values: list[tuple[float, float]]) -> None:
    assert ratio_of([(b, a) for a, b in values]) == pytest.approx(-ratio_of(values))


@given(st.lists(costs, min_size=1), st.floats(0.001, 1000))
def test_a_subject_that_is_a_multiple_of_another_has_just_that_ratio(values: list[float], factor: float) -> None:
    assert ratio_of([(value * factor, value) for value in values]) == pytest.approx(np.log(factor), abs=0.6 / LOG_STEPS)


def ratio_of(values: list[tuple[float, float]]) -> float:
    return float(log_ratios({"a": [a for a, _ in values]}, {"a": [b for _, b in values]})[0])


def test_only_shared_invocations_count_in_the_order_of_their_names() -> None:
    found = log_ratios({"b": [4.0], "a": [3.0], "x": [9.0]}, {"y": [9.0], "a": [1.0], "b": [1.0]})
    assert np.exp(found) == pytest.approx([3, 4])
    assert log_ratios({"a": [1.0]}, {"b": [1.0]}).size == 0


def test_batches_that_nobody_can_assign_to_rounds_count_by_their_medians() -> None:
    assert np.exp(by_round([2.0, 4.0, 6.0], [1.0, 3.0])) == pytest.approx([2])


def test_medians_are_those_of_each_invocation() -> None:
    assert medians({"a": [1.0, 9.0, 2.0], "b": [4.0, 5.0]}).tolist() == [2, 4.5]


@pytest.mark.parametrize(("values", "positive"), [([1.0, 2.0], True), ([1.0, 0.0], False)])
def test_a_zero_anywhere_has_no_logarithm(values: list[float], positive: bool) -> None:
    assert all_positive({"a": [1.0]}, {"b": [2.0], "c": values}) is positive


def test_a_round_in_which_one_batch_has_no_value_is_left_out() -> None:
    nan = float("nan")
    subject, against = {"a": [1.1, nan, 27.0, 2.4]}, {"a": [1.0, 2.0, 3.0, 2.0]}
    assert by_round(subject["a"], against["a"]) == pytest.approx(np.log([1.1, 9, 1.2]))
    assert np.exp(log_ratios(subject, against)) == pytest.approx([1.2])
    assert medians(subject) == pytest.approx([2.4])
    assert all_positive(subject, against)
    assert not all_positive({"a": [nan, 0.0]})


def test_without_a_round_in_which_both_have_a_value_the_medians_are_compared() -> None:
    nan = float("nan")
    assert by_round([nan, 4.0, nan], [2.0, nan, 2.0]) == pytest.approx(np.log([2.0]))
