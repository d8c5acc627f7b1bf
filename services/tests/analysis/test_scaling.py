"""The scalability law: planted coefficients come back, intervals hold them, and odd input ends in None."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kexbench.analysis.scaling import ScalingFit, Together, efficiency, fit_scaling, relative_rates
from kexbench.domain.intervals import Estimate

COUNTS = (1, 2, 4, 8, 16)
contentions = st.one_of(st.just(0.0), st.floats(0.001, 0.9))
coherencies = st.one_of(st.just(0.0), st.floats(1e-5, 0.2))


def law(threads: float, contention: float, coherency: float = 0.0, rate_1: float = 1000.0) -> float:
    return rate_1 * threads / (1 + contention * (threads - 1) + coherency * threads * (threads - 1))


def fitted(rates: dict[int, list[float]]) -> ScalingFit:
    found = fit_scaling(rates, bootstraps=100)
    assert found is not None
    return found


def noisy(contention: float, coherency: float, noise: float, invocations: int, seed: int) -> dict[int, list[float]]:
    random = np.random.default_rng(seed)
    return {
        threads: (law(threads, contention, coherency) * np.exp(random.normal(0, noise, invocations))).tolist()
        for threads in COUNTS
    }


@given(contentions, coherencies, st.floats(0.1, 1e6))
def test_what_was_planted_comes_back_from_points_without_noise(
    contention: float, coherency: float, rate_1: float
) -> None:
    found = fitted({threads: [law(threads, contention, coherency, rate_1)] for threads in COUNTS})
    assert found.coherency is not None
    assert found.rate_1.value == pytest.approx(rate_1, rel=1e-5)
    assert found.contention.value == pytest.approx(contention, rel=1e-4, abs=1e-6)
    assert found.coherency.value == pytest.approx(coherency, rel=1e-4, abs=1e-6)


@settings(max_examples=10)
@given(st.floats(0, 0.3), st.floats(0, 0.01), st.integers(0, 1000))
def test_what_was_planted_comes_back_nearly_from_one_percent_of_noise(
    contention: float, coherency: float, seed: int
) -> None:
    found = fitted(noisy(contention, coherency, 0.01, 10, seed))
    assert found.coherency is not None
    assert found.rate_1.value == pytest.approx(1000, rel=0.03)
    assert found.contention.value == pytest.approx(contention, abs=0.015)
    assert found.coherency.value == pytest.approx(coherency, abs=0.002)


@pytest.mark.long
def test_intervals_hold_what_was_planted_about_as_often_as_they_claim() -> None:
    held = np.zeros(3)
    for seed in range(40):
        found = fitted(noisy(0.05, 0.002, 0.02, 8, seed))
        assert found.coherency is not None
        for place, (truth, coefficient) in enumerate(
            [(1000, found.rate_1), (0.05, found.contention), (0.002, found.coherency)]
        ):
            held[place] += (coefficient.low or 0) <= truth <= (coefficient.high or 0)
    assert (held >= 34).all(), held


def test_the_same_rates_and_seed_give_the_same_intervals() -> None:
    rates = noisy(0.05, 0.002, 0.02, 5, 1)
    assert fit_scaling(rates, seed=7, bootstraps=20) == fit_scaling(rates, seed=7, bootstraps=20)
    assert fit_scaling(rates, seed=7, bootstraps=20) != fit_scaling(rates, seed=8, bootstraps=20)


def test_one_wild_invocation_in_five_moves_no_coefficient() -> None:
    calm = {threads: [law(threads, 0.1)] * 5 for threads in COUNTS}
    wild = {**calm, 4: [*calm[4][:4], calm[4][0] / 50]}
    assert fitted(wild).contention.value == pytest.approx(fitted(calm).contention.value)


def test_the_bootstrap_draws_one_fewer_invocation_than_there_are() -> None:
    """Three of the logs 0, 1, 2, 3: 0, 0, 0 comes in 1 of 64 draws, 0, 0, 1 in 3, so the lower bound is their 1 / 3."""
    logs = np.array([0.0, 1.0, 2.0, 3.0])
    found = fit_scaling({1: np.exp(logs).tolist(), 2: np.exp(logs - 5).tolist()}, bootstraps=2000)
    assert found is not None
    assert np.log(found.rate_1.low or 0) == pytest.approx(1 / 3)


def test_two_thread_counts_tell_contention_alone() -> None:
    found = fitted({1: [1000.0] * 3, 4: [law(4, 0.1)] * 3})
    assert found.coherency is None
    assert found.contention.value == pytest.approx(0.1)
    assert found.peak_threads is None


def test_thread_counts_need_not_start_at_one() -> None:
    found = fitted({threads: [law(threads, 0.1, 0.01)] for threads in (2, 4, 8)})
    assert found.rate_1.value == pytest.approx(1000)
    assert found.contention.value == pytest.approx(0.1)


def test_more_than_proportional_growth_counts_as_no_contention() -> None:
    found = fitted({1: [1000.0], 2: [2100.0], 4: [4500.0]})
    assert found.contention.value == 0
    assert found.coherency is not None
    assert found.coherency.value == 0


@given(contentions, coherencies)
def test_the_fitted_throughput_rises_to_its_peak_and_falls_behind_it(contention: float, coherency: float) -> None:
    found = ScalingFit(Estimate.whole(1000), Estimate.whole(contention), Estimate.whole(coherency))
    peak = found.peak_threads
    if peak is None:
        assert found.rate(2000) >= found.rate(1000)
        return
    before, behind = np.linspace(1, peak, 20), np.linspace(peak, 10 * peak, 20)
    assert (np.diff([found.rate(threads) for threads in before]) >= -1e-9).all()
    assert (np.diff([found.rate(threads) for threads in behind]) <= 1e-9).all()


@given(contentions, coherencies, st.floats(0.01, 0.5))
def test_more_contention_never_gives_more_throughput(contention: float, coherency: float, more: float) -> None:
    for threads in COUNTS:
        assert law(threads, contention + more, coherency) <= law(threads, contention, coherency)
    calm = fitted({threads: [law(threads, contention, coherency)] for threads in COUNTS})
    busy = fitted({threads: [law(threads, contention + more, coherency)] for threads in COUNTS})
    assert busy.contention.value > calm.contention.value


@pytest.mark.parametrize(
    ("contention", "coherency", "peak"),
    [(0.02, 0.0005, 44.27), (0.0, 0.01, 10), (0.99, 0.1, 1), (1.5, 0.0, 1), (1.0, 0.0, None), (0.5, 0.0, None)],
)
def test_the_peak_is_where_the_law_has_it(contention: float, coherency: float, peak: float | None) -> None:
    found = ScalingFit(Estimate.whole(1), Estimate.whole(contention), Estimate.whole(coherency))
    assert found.peak_threads == (peak if peak is None else pytest.approx(peak, abs=0.01))


def test_fewer_than_three_invocations_have_no_interval() -> None:
    found = fitted({1: [1000.0] * 5, 2: [1900.0] * 2, 4: [3500.0] * 5})
    assert (found.contention.low, found.contention.high) == (None, None)


@pytest.mark.parametrize(
    "rates",
    [
        {},
        {4: [100.0]},
        {1: [100.0], 2: []},
        {1: [0.0, 0.0], 2: [0.0, 0.0]},
        {1: [100.0], 2: [0.0]},
        {1: [100.0], 2: [-1.0]},
        {1: [100.0], 2: [float("inf")]},
        {1: [100.0], 2: [float("nan")]},
    ],
    ids=str,
)
def test_what_cannot_be_fitted_is_none(rates: dict[int, list[float]]) -> None:
    assert fit_scaling(rates) is None


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.integers(1, 256), st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=3), min_size=2, max_size=5
    )
)
def test_whatever_was_measured_the_coefficients_are_finite_and_not_below_zero(rates: dict[int, list[float]]) -> None:
    found = fitted(rates)
    for coefficient in (found.contention, found.coherency or found.contention):
        assert 0 <= coefficient.value < float("inf")
    assert found.rate_1.value > 0


def test_a_thread_count_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="thread counts start at 1, got 0"):
        fit_scaling({0: [1.0], 1: [2.0]})


def together(*rates: tuple[float, float]) -> dict[str, Together]:
    return {f"job/{number}": Together(*both) for number, both in enumerate(rates)}


def test_efficiency_is_the_share_of_what_the_threads_do_alone() -> None:
    found = efficiency(4, together(*[(3000.0, 1000.0)] * 5))
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.75, 0.75, 0.75))


def test_a_fast_phase_of_the_machine_is_in_no_efficiency() -> None:
    """The same CPUs were almost twice as fast in some invocations, which no other case of the run saw."""
    found = efficiency(2, together((1900.0, 1000.0), (3420.0, 1800.0), (2280.0, 1200.0)))
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.95, 0.95, 0.95))


def test_the_interval_of_an_efficiency_grows_with_the_noise() -> None:
    found = efficiency(2, together((1800.0, 1010.0), (1900.0, 1000.0), (2000.0, 990.0)))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


@pytest.mark.parametrize("rates", [[], [(1.0, 1.0)] * 2, [(1.0, 0.0)] * 5])
def test_with_too_few_invocations_there_is_no_efficiency(rates: list[tuple[float, float]]) -> None:
    assert efficiency(2, together(*rates)) is None


def test_the_law_is_fitted_to_throughputs_in_units_of_one_thread_alone() -> None:
    rates = relative_rates({2: together((1900.0, 1000.0), (3420.0, 1800.0)), 4: together((3000.0, 1000.0))})
    assert rates == {1: [1.0], 2: pytest.approx([1.9, 1.9]), 4: [3.0]}
    assert relative_rates({}) == {}
