"""Change points: what holds whatever the numbers, what is found and what is not, how good that is on labelled data."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import changepoint_score
from kexbench.analysis.changepoints import LEAST_AFTER, change_points
from kexbench.analysis.changepoints_transients import bursts_of, switches_of

POSITIVE = st.floats(min_value=1e-3, max_value=1e9, allow_nan=False)
HISTORIES = st.lists(POSITIVE, max_size=120)


def indices(values: Sequence[float], **how: object) -> list[int]:
    return [change.index for change in change_points(values, **how)]  # type: ignore[arg-type]


def noise(count: int, seed: int, size: float = 0.01) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return size * np.random.default_rng(seed).standard_normal(count)


def history(count: int, *steps: tuple[int, float], seed: int = 3, size: float = 0.01) -> list[float]:
    logs = noise(count, seed, size)
    for index, height in steps:
        logs[index:] += height
    return [float(value) for value in 1000 * np.exp(logs)]


@given(POSITIVE, st.integers(0, 300), st.booleans())
def test_a_constant_history_has_none(value: float, count: int, strict: bool) -> None:
    assert change_points([value] * count, strict=strict) == []


@settings(max_examples=60)
@given(st.integers(0, 1000), st.floats(min_value=1e-6, max_value=1e6))
def test_another_unit_changes_nothing(seed: int, factor: float) -> None:
    values = history(90, (40, 0.05), (60, -0.03), seed=seed)
    assert indices([value * factor for value in values]) == indices(values)


@settings(max_examples=60)
@given(HISTORIES)
def test_whatever_comes_the_answer_is_in_order_inside_and_strict_is_part_of_it(values: list[float]) -> None:
    found = indices(values)
    assert found == sorted(set(found))
    assert all(0 < index <= len(values) - LEAST_AFTER for index in found)
    assert set(indices(values, strict=True)) <= set(found)


def memory(count: int, seed: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    fresh = noise(count, seed)
    for index in range(1, count):
        fresh[index] += 0.7 * fresh[index - 1]
    return fresh


def heavy_tails(count: int, seed: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return 0.01 * np.random.default_rng(seed).standard_t(3, count)


@pytest.mark.parametrize("kind", [noise, heavy_tails, memory])
def test_however_many_series_of_noise_are_added_none_alerts(
    kind: "Callable[[int, int], np.ndarray[tuple[int], np.dtype[np.float64]]]",
) -> None:
    for seed in range(40):
        assert indices(np.exp(kind(60 + 7 * seed, seed)).tolist(), strict=True) == [], seed


def test_a_step_is_found_at_its_place_with_its_ratio() -> None:
    (found,) = change_points(history(100, (60, 0.05)), strict=True)
    assert found.index == 60
    assert found.ratio == pytest.approx(math.exp(0.05), abs=0.005)
    assert found.z > 10
    (fell,) = change_points(history(100, (60, -0.05)))
    assert (fell.index, fell.z < 0, fell.ratio < 1) == (60, True, True)


def test_a_step_in_a_history_without_noise_is_found() -> None:
    assert indices([100.0] * 20 + [101.0] * 20) == [20]


def test_less_than_half_a_percent_is_none_however_sure() -> None:
    assert indices(history(400, (200, 0.004), size=0.0005)) == []


@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_a_clear_step_is_reported_at_its_third_point_and_not_before(after: int) -> None:
    assert indices(history(60 + after, (60, 0.08))) == ([60] if after >= LEAST_AFTER else [])


def test_single_outliers_are_none() -> None:
    values = history(120)
    for index in (20, 50, 51, 90, 119):
        values[index] *= 1.5
    assert indices(values) == []


def test_a_short_level_that_goes_back_is_two_changes() -> None:
    assert indices(history(100, (50, 0.08), (56, -0.08))) == [50, 56]


def test_a_weak_step_that_begins_a_larger_one_is_part_of_it() -> None:
    assert indices(history(100, (51, 0.025), (60, 0.06))) == [60]
    assert indices(history(100, (51, 0.025), (60, -0.06))) == [51, 60], "the other way is another change"
    assert indices(history(100, (48, 0.025), (60, 0.06))) == [48, 60], "twelve points before it is its own"
    assert indices(history(100, (50, 0.05), (58, 0.05))) == [50, 58], "both are clear"


def test_a_drift_is_none_and_a_step_upon_it_is_one() -> None:
    slope = np.linspace(0, 0.03, 300)
    assert indices((np.exp(noise(300, 5) + slope)).tolist()) == []
    stepped = np.exp(noise(300, 5) + slope + 0.1 * (np.arange(300) >= 150))
    assert indices(stepped.tolist()) == [150]


def test_a_host_that_switches_between_two_levels_is_noise_and_a_step_upon_it_is_one() -> None:
    slow = np.array([(index // 9) % 2 for index in range(180)]) * 0.03
    assert indices(np.exp(noise(180, 8) + slow).tolist()) == []
    stepped = np.exp(noise(180, 8) + slow + 0.3 * (np.arange(180) >= 99))
    assert indices(stepped.tolist()) == [99]


def test_switches_are_steps_there_and_back_by_the_same_several_times() -> None:
    assert switches_of([0.03, -0.031, 0.029], noise=0.01) == {0, 1, 2}
    assert switches_of([0.03, -0.031], noise=0.01) == set()
    assert switches_of([0.03, -0.031, 0.2, 0.1], noise=0.01) == set()
    assert switches_of([0.2, -0.2, 0.2], noise=0.01) == set(), "clear levels take more"
    assert switches_of([0.2, -0.2, 0.2, -0.2], noise=0.01) == {0, 1, 2, 3}
    assert switches_of([], noise=0.01) == set()


def test_three_points_in_a_row_are_a_level_where_they_agree() -> None:
    agreeing, scattered = np.zeros(20), np.zeros(20)
    agreeing[10:13], scattered[10:13] = 0.07, (0.03, 0.06, 0.09)
    assert bursts_of(agreeing, [10, 13], [0.07, -0.07]) == set()
    assert bursts_of(scattered, [10, 13], [0.06, -0.06]) == {0, 1}


def test_nothing_is_reported_at_a_reset_or_compared_across_it() -> None:
    values = history(100, (50, 0.2))
    assert indices(values) == [50]
    assert indices(values, resets=[50]) == []
    twice = history(160, (50, 0.2), (120, 0.1))
    assert indices(twice, resets=[50]) == [120]
    assert indices(values, resets=[0, 100, 250]) == [50], "beyond the ends there is nothing to begin anew"


def test_points_that_are_known_badly_count_for_little() -> None:
    values = history(60)
    for index in range(40, 46):
        values[index] *= 1.06
    assert indices(values) == [40, 46]
    errors = [value * (0.08 if 40 <= index < 46 else 0.001) for index, value in enumerate(values)]
    assert indices(values, errors=errors) == []


@pytest.mark.parametrize("values", [[], [5.0], [5.0, 6.0], [5.0, 5.0, 7.0]])
def test_too_few_values_have_none(values: list[float]) -> None:
    assert change_points(values) == []


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_cost_is_refused_with_its_place(wrong: float) -> None:
    with pytest.raises(ValueError, match="value 3 is"):
        change_points([1.0, 1.0, wrong, 1.0])
    with pytest.raises(ValueError, match=r"1 errors for 2 values"):
        change_points([1.0, 2.0], errors=[0.1])
    with pytest.raises(ValueError, match="error 1 is"):
        change_points([1.0, 2.0], errors=[-0.1, 0.1])


@pytest.mark.parametrize(("name", "f1", "false_alarms"), [("synthetic", 0.87, 0.4), ("semireal", 0.9, 0.4)])
def test_it_is_good_on_histories_that_it_was_not_tuned_on(name: str, f1: float, false_alarms: float) -> None:
    _, held_back = changepoint_score.folds(changepoint_score.load(name))
    for null, floor in ((False, f1), (True, 0.0)):
        series = [one for one in held_back if one.null == null]
        found = changepoint_score.score(series, [indices(one.values) for one in series])
        assert floor == 0 or found.f1 >= floor
        assert found.false_alarms_per_1000 <= false_alarms
