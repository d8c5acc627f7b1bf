"""The scorer of change-point detectors: what counts as a hit, a miss and a false alarm."""

import math

import pytest

from bench.changepoint_score import NAMES, Label, LabelledSeries, delays, folds, load, score


def series(
    *labels: int, count: int = 100, hidden: tuple[int, ...] = (), ignored: tuple[int, ...] = ()
) -> LabelledSeries:
    marks = [*(Label(each, True, 4.0) for each in labels), *(Label(each, False, 0.2) for each in hidden)]
    return LabelledSeries("one", "steps", (1.0,) * count, tuple(sorted(marks, key=lambda mark: mark.index)), ignored)


@pytest.mark.parametrize(
    ("labels", "found", "hits", "misses", "false_alarms"),
    [
        ((50,), (50,), 1, 0, 0),
        ((50,), (55,), 1, 0, 0),
        ((50,), (56,), 0, 1, 1),
        ((50,), (), 0, 1, 0),
        ((50,), (49, 51), 1, 0, 1),
        ((50, 54), (52,), 1, 1, 0),
        ((), (0, 100, 120), 0, 0, 0),
    ],
)
def test_a_label_and_a_change_are_used_once(
    labels: tuple[int, ...], found: tuple[int, ...], hits: int, misses: int, false_alarms: int
) -> None:
    counted = score([series(*labels)], [found])
    assert (counted.hits, counted.misses, counted.false_alarms) == (hits, misses, false_alarms)


def test_what_nobody_can_find_and_what_is_ignored_counts_neither_way() -> None:
    counted = score([series(hidden=(30,), ignored=(70,))], [(31, 33, 72)])
    assert (counted.hits, counted.misses, counted.false_alarms) == (0, 0, 0)
    assert math.isnan(counted.f1)


def test_shares_are_of_all_series_together_and_by_family() -> None:
    counted = score([series(50), series(20, 80)], [(50, 90), (20,)])
    assert (counted.precision, counted.recall, counted.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert counted.false_alarms_per_1000 == pytest.approx(1000 / 200)
    assert counted.by_family["steps"].hits == 2


def test_a_delay_is_the_first_number_of_points_that_is_enough() -> None:
    def detect(values: object) -> list[int]:
        return [50] if len(values) >= 57 else []  # type: ignore[arg-type]

    assert delays(detect, [series(50)]) == [8.0]
    assert delays(lambda values: [], [series(50)]) == [math.inf]


def test_the_data_is_whole_and_its_folds_keep_a_history_and_its_copy_together() -> None:
    counts = {name: len(load(name)) for name in NAMES}
    assert counts == {"synthetic": 160, "semireal": 68, "real": 8}
    tuned, held_back = folds(load("semireal"))
    assert {one.id[3:] for one in tuned if one.null}.isdisjoint(one.id[4:] for one in held_back if not one.null)
    assert (len(tuned), len(held_back)) == (44, 24)
