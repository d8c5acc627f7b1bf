"""The formulas for planning, against simulated tests of the same estimator."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.detectable import ALPHA, POWER, invocations_for, pair_sd_of, smallest_detectable_change
from kexbench.analysis.resampling import excludes_one

NOISES = {
    "normal": lambda random, shape: random.normal(0, 0.01, shape),
    "heavy tails": lambda random, shape: random.standard_t(3, shape) * 0.01,
    "one wild in ten": lambda random, shape: random.normal(0, 0.01, shape) * np.where(random.random(shape) < 0.1, 6, 1),
}


@pytest.mark.parametrize("invocations", [5, 10, 20, 30])
@pytest.mark.parametrize("noise", NOISES)
def test_the_smallest_detectable_change_is_found_four_times_in_five(noise: str, invocations: int) -> None:
    random = np.random.default_rng(1)
    pair_sd = pair_sd_of(NOISES[noise](random, 20_000))
    change = smallest_detectable_change(pair_sd, invocations)
    samples = np.log1p(change) + NOISES[noise](random, (20_000, invocations))
    assert excludes_one(samples, ALPHA).mean() == pytest.approx(POWER, abs=0.05)


@pytest.mark.parametrize("noise", NOISES)
def test_pair_sd_predicts_the_standard_error_of_the_trimmed_mean(noise: str) -> None:
    random = np.random.default_rng(2)
    pair_sd = pair_sd_of(NOISES[noise](random, 20_000))
    means = scipy.stats.trim_mean(NOISES[noise](random, (20_000, 20)), 0.2, axis=1)
    assert means.std() == pytest.approx(pair_sd / np.sqrt(20), rel=0.05)


def test_one_wild_invocation_in_ten_hardly_moves_pair_sd() -> None:
    pool = np.random.default_rng(3).normal(0, 0.01, 100)
    wild = np.where(np.arange(100) % 10 == 0, pool * 1000, pool)
    assert pair_sd_of(wild) < 1.5 * pair_sd_of(pool)


def test_a_constant_case_shows_any_change() -> None:
    assert pair_sd_of(np.zeros(10)) == 0
    assert smallest_detectable_change(0.0, 10) == 0
    assert invocations_for(0.0, 0.001) == 3


def test_the_change_worked_by_hand() -> None:
    """Ten invocations keep six: 5 (1 - 0.72 * 2 / 10) = 4.28 degrees of freedom, critical value 4.40477. A noncentral
    t with noncentrality 5.6295 lies beyond it four times in five; 5.6295 times 0.01 / sqrt(10) is 0.01780."""
    assert scipy.stats.nct.sf(4.40477, 4.28, 5.6295) == pytest.approx(0.8, abs=1e-4)
    assert np.log1p(smallest_detectable_change(0.01, 10)) == pytest.approx(0.01780, abs=1e-5)


@given(st.floats(1e-4, 0.2), st.floats(0.001, 0.5))
def test_the_invocations_for_a_change_are_the_fewest_that_detect_it(pair_sd: float, change: float) -> None:
    count = invocations_for(pair_sd, change)
    assert smallest_detectable_change(pair_sd, count) <= change
    if count > 3:
        assert smallest_detectable_change(pair_sd, count - 1) > change


def test_a_tiny_change_needs_its_millions_of_invocations_without_delay() -> None:
    wanted = (scipy.stats.norm.ppf(0.995) + scipy.stats.norm.ppf(0.8)) ** 2 * (0.1 / 1e-5) ** 2
    assert invocations_for(0.1, 1e-5) == pytest.approx(wanted, rel=1e-4)


def test_less_certainty_needs_fewer_invocations() -> None:
    assert invocations_for(0.01, 0.005, alpha=0.05) < invocations_for(0.01, 0.005)
    assert invocations_for(0.01, 0.005, power=0.5) < invocations_for(0.01, 0.005)


@pytest.mark.parametrize("change", [0.0, -0.01])
def test_no_number_of_invocations_shows_no_change(change: float) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        invocations_for(0.01, change)


def test_two_invocations_are_too_few() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        smallest_detectable_change(0.01, 2)
