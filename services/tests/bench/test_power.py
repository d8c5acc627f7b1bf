"""Power by resampling, on noise whose truth is known."""

import numpy as np
import pytest
import scipy

from bench.power import PowerCurve, resampled_power
from kexbench.analysis.detectable import smallest_detectable_change
from kexbench.analysis.resampling import excludes_one

SLOWDOWNS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.03)
PAIR_SD = 0.01066
"""Of normal noise with a standard deviation of 1%."""


def pools(seed: int, invocations: int = 300, noise: float = 0.01) -> dict[float, list[float]]:
    random = np.random.default_rng(seed)
    return {slowdown: (np.log1p(slowdown) + random.normal(0, noise, invocations)).tolist() for slowdown in SLOWDOWNS}


def curve(ratios: dict[float, list[float]], group: int = 10, resamples: int = 60, seed: int = 1) -> PowerCurve:
    return resampled_power(ratios, group, resamples, 0.01, seed)


def test_without_an_injection_the_nominal_rate_holds() -> None:
    nothing = curve(pools(1), resamples=340).injections[0]
    assert nothing.injected == 0
    assert nothing.detected.tests == 10_200
    low, high = nothing.detected.rate.bounds
    assert low <= 0.01 <= high < 0.05


def test_power_grows_with_the_slowdown_from_nothing_to_certainty() -> None:
    rates = [injection.detected.rate.value for injection in curve(pools(2)).injections]
    assert rates == sorted(rates)
    assert rates[0] < 0.05
    assert rates[-1] > 0.97


def test_the_power_at_each_slowdown_is_that_of_the_test() -> None:
    random = np.random.default_rng(3)
    for injection in curve(pools(3)).injections:
        samples = np.log1p(injection.injected) + random.normal(0, 0.01, (20_000, 10))
        low, high = injection.detected.rate.bounds
        assert low - 0.02 <= excludes_one(samples, 0.01).mean() <= high + 0.02


@pytest.mark.parametrize("group", [10, 20])
def test_the_smallest_change_is_that_of_the_formula(group: int) -> None:
    found = [curve(pools(seed), group).smallest_change for seed in range(4)]
    values = [each.value for each in found if each]
    assert np.mean(values) == pytest.approx(smallest_detectable_change(PAIR_SD, group), rel=0.08)


@pytest.mark.long
def test_the_interval_holds_the_truth_about_as_often_as_it_claims() -> None:
    truth, held = 1.02 * smallest_detectable_change(PAIR_SD, 10), 0
    for seed in range(20):
        change = curve(pools(seed)).smallest_change
        assert change is not None
        low, high = change.bounds
        held += low <= truth <= high
    assert held >= 16


def test_noise_that_all_injections_share_widens_the_interval() -> None:
    """As when all are compared with the same subject in the same invocations."""
    random = np.random.default_rng(4)
    apart, shared = random.normal(0, 0.0045, (6, 300)), random.normal(0, 0.009, 300)
    together = {slowdown: np.log1p(slowdown) + noise + shared for slowdown, noise in zip(SLOWDOWNS, apart, strict=True)}
    scattered = {slowdown: random.permutation(values) for slowdown, values in together.items()}
    widths = []
    for ratios in (together, scattered):
        change = resampled_power(
            {key: value.tolist() for key, value in ratios.items()}, 10, 60, 0.01, 1
        ).smallest_change
        assert change is not None
        low, high = change.bounds
        widths.append(high - low)
    assert widths[0] > widths[1]


def test_half_the_noise_detects_half_the_change() -> None:
    loud, quiet = curve(pools(5)).smallest_change, curve(pools(5, noise=0.005)).smallest_change
    assert loud is not None
    assert quiet is not None
    assert quiet.value == pytest.approx(loud.value / 2, rel=0.1)


def test_the_probit_line_is_the_likeliest() -> None:
    found = curve(pools(6))
    x = np.log1p(SLOWDOWNS)
    rates = np.array([injection.detected.rate.value for injection in found.injections])
    seen = np.clip(rates, 0.5 / 1800, 1 - 0.5 / 1800)

    def unlikeliness(line: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
        linear = line[0] + line[1] * x / x[-1]
        return -float(np.sum(seen * scipy.stats.norm.logcdf(linear) + (1 - seen) * scipy.stats.norm.logcdf(-linear)))

    best = scipy.optimize.minimize(unlikeliness, [-2.0, 5.0], method="Nelder-Mead", options={"xatol": 1e-8}).x
    assert found.smallest_change is not None
    crossing = (scipy.stats.norm.ppf(0.8) - best[0]) / best[1] * x[-1]
    assert np.log1p(found.smallest_change.value) == pytest.approx(crossing, rel=1e-4)


def test_what_the_whole_pool_measures_of_an_injection_stands_beside_it() -> None:
    for injection in curve(pools(7)).injections:
        assert injection.invocations == 300
        measured = injection.measured
        assert measured.low < measured.ratio < measured.high
        assert measured.ratio == pytest.approx(1 + injection.injected, abs=0.003)


def test_without_enough_power_anywhere_there_is_no_smallest_change() -> None:
    assert curve(pools(8, noise=0.2)).smallest_change is None


def test_pools_that_always_differ_have_no_smallest_change() -> None:
    biased = {slowdown: [0.5 + 0.001 * (place % 7) for place in range(60)] for slowdown in (0.0, 0.01)}
    assert curve(biased).smallest_change is None


def test_what_is_found_often_enough_without_any_slowdown_is_no_smallest_change() -> None:
    noise = np.random.default_rng(12).normal(0.018, 0.01, 200)
    found = curve({slowdown: (noise + slowdown).tolist() for slowdown in (0.0, 0.005, 0.01)})
    assert 0.8 < found.injections[0].detected.rate.value < found.injections[-1].detected.rate.value
    assert found.smallest_change is None


def test_a_power_that_jumps_from_none_to_all_has_a_change_between_them() -> None:
    noise = np.random.default_rng(9).normal(0, 1e-5, 100)
    found = curve({0.0: noise.tolist(), 0.01: (noise + 0.01).tolist(), 0.02: (noise + 0.02).tolist()})
    assert found.smallest_change is not None
    assert 0 < found.smallest_change.value < 0.01


def test_pools_may_have_different_lengths() -> None:
    ratios = pools(10)
    ratios[0.01] = ratios[0.01][:77]
    found = curve(ratios)
    assert [injection.detected.groups for injection in found.injections] == [30, 30, 30, 7, 30, 30]
    assert found.smallest_change is not None


def test_the_same_seed_gives_the_same_curve() -> None:
    assert curve(pools(11), seed=3) == curve(pools(11), seed=3)


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ({}, "two slowdowns or more"),
        ({0.0: [0.0] * 40}, "two slowdowns or more"),
        ({-0.01: [0.0] * 40, 0.01: [0.0] * 40}, "none below 0"),
        ({0.0: [0.0] * 40, 0.01: [0.0] * 19}, "19 invocations at a slowdown of 0.01 do not make two groups of 10"),
    ],
)
def test_what_has_no_curve_is_refused(ratios: dict[float, list[float]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        curve(ratios)
