"""Groups resampled from a pool: how often they reject, and how sure that is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.estimates import compare
from kexbench.analysis.resampling import Rejections, excludes_one, partition, rejections, wilson
from kexbench.analysis.rounds import Vector


def resampled(pool: Vector, group: int = 10, partitions: int = 50, alpha: float = 0.01, seed: int = 1) -> Rejections:
    found = rejections(pool, group, partitions, alpha, np.random.default_rng(seed))
    assert found is not None
    return found


@given(st.integers(3, 40), st.integers(3, 9), st.integers(1, 5))
def test_groups_of_one_partition_are_disjoint_and_leave_out_less_than_a_group(
    count: int, group: int, partitions: int
) -> None:
    drawn = partition(count, group, partitions, np.random.default_rng(1))
    assert drawn.shape == (partitions * (count // group), group)
    for rows in np.split(drawn, partitions):
        assert len(set(rows.ravel().tolist())) == rows.size


def test_a_group_is_tested_as_two_subjects_are_compared() -> None:
    samples = np.random.default_rng(2).normal(0.01, 0.012, (200, 10))
    for row, excluded in zip(samples, excludes_one(samples, 0.05), strict=True):
        found = compare(
            {str(place): [float(np.exp(log))] for place, log in enumerate(row)},
            {place: [1.0] for place in "0123456789"},
        )
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert excluded == (found.low > 1 or found.high < 1)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("invocations", [3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 135])
def test_noise_alone_is_rejected_as_often_as_alpha_says(alpha: float, invocations: int) -> None:
    """Within a twelfth of alpha and four standard errors of the simulation."""
    samples = np.random.default_rng(3).normal(0, 1, (100_000, invocations))
    off = 4 * np.sqrt(alpha * (1 - alpha) / len(samples))
    assert excludes_one(samples, alpha).mean() == pytest.approx(alpha, abs=alpha / 12 + off)


def test_an_offset_pool_rejects_always_and_a_constant_one_never() -> None:
    noise = np.random.default_rng(4).normal(0, 0.001, 100)
    assert resampled(noise + 0.1).rate.value == 1
    assert resampled(np.zeros(100)).rate.value == 0


def test_the_counts_are_stated() -> None:
    found = resampled(np.random.default_rng(5).normal(0, 1, 104), group=10, partitions=7)
    assert (found.groups, found.partitions, found.tests) == (10, 7, 70)
    assert found.rejected == found.rate.value * 70
    assert 10 <= found.effective_tests <= 70


def test_a_pool_of_less_than_two_groups_is_none() -> None:
    random = np.random.default_rng(6)
    assert rejections(np.zeros(19), 10, 5, 0.01, random) is None
    assert rejections(np.zeros(20), 10, 5, 0.01, random) is not None


@pytest.mark.parametrize("offset", [0.0, 0.35, 0.6], ids=["nothing", "sometimes", "often"])
def test_the_interval_of_a_rate_holds_the_truth_about_as_often_as_it_claims(offset: float) -> None:
    """Over pools of 200: groups of different partitions overlap, which an interval for independent tests would miss."""
    random = np.random.default_rng(7)
    truth = excludes_one(random.normal(offset, 1, (100_000, 10)), 0.05).mean()
    found = [resampled(random.normal(offset, 1, 200), alpha=0.05, seed=seed) for seed in range(200)]
    bounds = [each.rate.bounds for each in found]
    held = np.mean([low <= truth <= high for low, high in bounds])
    naive = np.mean(
        [wilson(each.rate.value, each.tests)[0] <= truth <= wilson(each.rate.value, each.tests)[1] for each in found]
    )
    assert held > 0.9
    assert naive < held


@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_a_rate_scatters_over_pools_as_its_effective_number_of_tests_says(offset: float) -> None:
    random = np.random.default_rng(8)
    found = [resampled(random.normal(offset, 1, 200), alpha=0.05, partitions=20) for _ in range(400)]
    variance = np.mean([each.rate.value * (1 - each.rate.value) / each.effective_tests for each in found])
    assert np.sqrt(variance) == pytest.approx(np.std([each.rate.value for each in found]), rel=0.2)


def test_wilsons_interval_is_that_of_the_textbook() -> None:
    """Newcombe 1998, table I: 81 of 263, and 0 of 20."""
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=1e-4)
    assert wilson(1, 20) == pytest.approx((0.8389, 1), abs=1e-4)
