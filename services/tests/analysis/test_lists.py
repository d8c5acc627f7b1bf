"""Two lists of invocations, as they come through a pipe."""

import numpy as np
import pytest

from kexbench.analysis.estimates import compare
from kexbench.analysis.lists import compare_lists

QUIET = [[100.0, 101, 99], [102.0, 100, 101], [98.0, 99, 100], [101.0, 102, 100], [99.0, 100, 98]]


def slower(
    by: float, noise: float = 0.002, count: int = 8, seed: int = 1
) -> tuple[list[list[float]], list[list[float]]]:
    random = np.random.default_rng(seed)
    machine = random.normal(0, 0.1, count)
    a, b = (
        [list(100 * np.exp(one + random.normal(0, noise) + random.normal(0, 0.01, 10))) for one in machine]
        for _ in range(2)
    )
    return a, [[value * (1 + by) for value in values] for values in b]


@pytest.mark.parametrize(("paired", "found"), [(True, True), (False, False)])
def test_what_the_machine_does_is_in_both_of_a_pair(paired: bool, found: bool) -> None:
    assert compare_lists(*slower(0.03), paired=paired, strict=False).regression is found


@pytest.mark.parametrize(
    ("by", "usual", "strict"), [(0.004, False, False), (0.0075, True, False), (0.03, True, True), (-0.03, False, False)]
)
def test_a_regression_is_sure_and_large_enough(by: float, usual: bool, strict: bool) -> None:
    a = [[value] for value in np.exp(np.linspace(-1e-4, 1e-4, 10))]
    b = [[(1 + by) * value] for (value,) in reversed(a)]
    found = [compare_lists(a, b, paired=True, strict=level).regression for level in (False, True)]
    assert found == [usual, strict]


@pytest.mark.parametrize("paired", [True, False])
def test_the_interval_is_that_of_every_other_comparison(paired: bool) -> None:
    a, b = slower(0.02)
    before = {str(number): values for number, values in enumerate(a)}
    after = {str(number) + ("" if paired else "b"): values for number, values in enumerate(b)}
    expected, found = compare(after, before), compare_lists(a, b, paired=paired, strict=False)
    assert expected is not None
    assert vars(found.move) == pytest.approx(vars(expected))


@pytest.mark.parametrize(
    ("a", "b", "paired", "message"),
    [
        (QUIET[:2], QUIET, False, r"^a has 2 invocations, and at least 3 are needed: measure more"),
        (QUIET, [], False, r"^b has 0 invocations"),
        (QUIET, QUIET[:4], True, r"a has 5 and b has 4: leave out those without a partner"),
        (QUIET, [*QUIET[:3], []], False, r"^b\[3\] has no batches"),
        ([*QUIET, [1.0, 0.0]], QUIET, False, r"^a\[5\]\[1\] is 0.0: costs must be finite and above 0"),
        (QUIET, [*QUIET, [float("nan")]], False, r"^b\[5\]\[0\] is nan"),
    ],
)
def test_what_cannot_be_compared_says_where_and_what_to_do(
    a: list[list[float]], b: list[list[float]], paired: bool, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        compare_lists(a, b, paired=paired, strict=False)


def test_one_thing_is_no_regression_of_itself() -> None:
    found = compare_lists(QUIET, QUIET, paired=True, strict=False)
    assert (found.move.ratio, found.regression) == (1.0, False)
