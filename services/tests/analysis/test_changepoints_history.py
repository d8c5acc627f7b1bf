"""A history that grows: what it says, when it says what the whole says, and how seldom it judges the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kexbench.analysis.changepoints import ChangePoint, History, change_points


def values_of(logs: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[float]:
    return [float(value) for value in 1000 * np.exp(logs)]


def grown(values: list[float], strict: bool = False, resets: tuple[int, ...] = ()) -> History:
    history = History(strict=strict)
    for index, value in enumerate(values):
        history.append(value, reset=index in resets)
    return history


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.lists(st.tuples(st.integers(5, 145), st.floats(-0.15, 0.15)), max_size=4),
    st.booleans(),
)
def test_each_time_it_judges_it_says_what_the_whole_says_and_it_judges_in_time(
    seed: int, steps: list[tuple[int, float]], strict: bool
) -> None:
    logs = 0.01 * np.random.default_rng(seed).standard_normal(150)
    for index, height in steps:
        logs[index:] += height
    values, history, since = values_of(logs), History(strict=strict), 0
    for count, value in enumerate(values, 1):
        before = history.judged
        history.append(value)
        since = 0 if history.judged > before else since + 1
        assert since <= 8 + count // 8
        if not since:
            assert history.change_points == change_points(values[:count], strict=strict)


def test_a_calm_history_is_judged_seldom() -> None:
    history = grown(values_of(0.01 * np.random.default_rng(4).standard_normal(2000)))
    assert len(history) == 2000
    assert history.judged <= 200
    assert history.change_points == []


def test_a_clear_step_is_told_at_once() -> None:
    logs = 0.01 * np.random.default_rng(6).standard_normal(404)
    logs[400:] += 0.08
    assert [change.index for change in grown(values_of(logs)).change_points] == [400]


def test_a_reset_begins_anew_and_keeps_what_was() -> None:
    logs = 0.01 * np.random.default_rng(7).standard_normal(200)
    logs[50:] += 0.1
    logs[100:] += 0.3
    logs[160:] += 0.1
    values = values_of(logs)
    history = grown(values, resets=(100,))
    assert [change.index for change in history.change_points] == [50, 160]
    assert [change.index for change in change_points(values, resets=[100])] == [50, 160]


def test_errors_count() -> None:
    logs = 0.01 * np.random.default_rng(3).standard_normal(60)
    logs[40:46] += 0.06
    history, plain = History(), History()
    for index, value in enumerate(values_of(logs)):
        history.append(value, value * (0.08 if 40 <= index < 46 else 0.001))
        plain.append(value)
    assert history.change_points == []
    assert all(isinstance(change, ChangePoint) for change in plain.change_points)


def test_what_is_no_cost_is_refused_and_changes_nothing() -> None:
    history = grown([1.0, 1.0])
    with pytest.raises(ValueError, match="above zero"):
        history.append(0.0)
    assert len(history) == 2
