"""What is kept of removed batches gives the answers of the batches, bit for bit."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.removal import kept_of
from kexbench.analysis.rounds import all_positive, log_ratios, median_log_ratio, median_of, medians
from kexbench.domain.batches import LOG_STEPS, RemovedBatches, RoundRatio, Values

NAMES = ("a", "b", "sentinel")
COSTS = st.one_of(st.integers(1, 2_000_000).map(float), st.just(math.nan))
BATCHES = st.lists(COSTS, min_size=1, max_size=25).filter(lambda values: not all(map(math.isnan, values)))


def removed(subjects: Sequence[Sequence[float]]) -> list[Values] | None:
    kept = kept_of([np.array(values) for values in subjects], [median_of(values) for values in subjects])
    if kept is None:
        return None
    ratios: dict[str, dict[str, RoundRatio]] = {name: {} for name in NAMES}
    for (first, second), (mean, median) in zip(combinations(NAMES, 2), kept.tolist(), strict=True):
        ratios[first][second] = RoundRatio(mean / LOG_STEPS, median / LOG_STEPS)
    return [RemovedBatches(name, median_of(values), ratios[name]) for name, values in zip(NAMES, subjects, strict=True)]


@given(st.lists(BATCHES, min_size=3, max_size=3))
def test_all_pairs_have_the_same_ratios_as_before(subjects: list[list[float]]) -> None:
    if (kept := removed(subjects)) is None:
        return
    for first in range(3):
        for second in range(3):
            if first != second:
                before = {"one": subjects[first]}, {"one": subjects[second]}
                after = {"one": kept[first]}, {"one": kept[second]}
                assert log_ratios(*after).tolist() == log_ratios(*before).tolist()
                assert median_log_ratio(kept[first], kept[second]) == median_log_ratio(
                    subjects[first], subjects[second]
                )
    after_all = {str(place): values for place, values in enumerate(kept)}
    assert medians(after_all).tolist() == [median_of(values) for values in subjects]
    assert all_positive(after_all)


def test_nearly_all_batches_can_be_removed() -> None:
    random = np.random.default_rng(0)
    stay = sum(removed(np.rint(random.normal(500_000, 2_500, (3, 20))).tolist()) is None for _ in range(2_000))
    assert stay <= 5


@pytest.mark.parametrize(
    ("subjects", "stored"),
    [
        ([[3.0, 0.0, 4.0], [3.0, 3.0, 3.0]], None),
        ([[3.0, 5.0], [3.0, 3.0]], [4.0000001, 3.0]),
        ([[3.0, 5.0], []], [4.0, 3.0]),
        ([[1e13, 1e13], [1.0, 1.0]], None),
    ],
    ids=["a zero, which has no ratio", "another median", "partly removed", "a ratio that is too large"],
)
def test_batches_stay_if_the_kept_numbers_could_give_other_answers(
    subjects: list[list[float]], stored: list[float] | None
) -> None:
    batches = [np.array(values) for values in subjects]
    assert kept_of(batches, stored or [median_of(values) for values in subjects]) is None


def test_subjects_without_a_common_round_are_compared_by_their_medians_before_and_after() -> None:
    subjects = [[3.0, math.nan], [math.nan, 5.0], [7.0]]
    kept = removed(subjects)
    assert kept is not None
    assert log_ratios({"": kept[0]}, {"": kept[1]}) == pytest.approx(np.log(3 / 5), abs=1e-8)
    assert log_ratios({"": kept[2]}, {"": kept[0]}) == pytest.approx(np.log(7 / 3), abs=1e-8)
