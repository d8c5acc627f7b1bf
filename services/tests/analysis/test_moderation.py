"""The prior of a matrix: found again where variances come from one, and not led astray by a few wild ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.moderation import fit_prior, moderate
from kexbench.analysis.rounds import Vector


def drawn(prior_freedom: float, freedoms: Vector, variance: float = 4.0, seed: int = 1) -> Vector:
    """Variances of so many degrees of freedom, whose truths are scaled inverse chi-squared."""
    random = np.random.default_rng(seed)
    truths = variance * prior_freedom / random.chisquare(prior_freedom, len(freedoms))
    return np.asarray(truths * random.chisquare(freedoms) / freedoms)


@pytest.mark.parametrize("prior_freedom", [2.0, 6.0, 20.0])
def test_a_prior_is_found_again_from_cells_with_few_and_many_invocations(prior_freedom: float) -> None:
    freedoms = np.resize([2.0, 4.0, 9.0, 29.0], 4000)
    found = fit_prior(drawn(prior_freedom, freedoms), freedoms)
    assert found is not None
    assert found.variance == pytest.approx(4.0, rel=0.1)
    assert prior_freedom / 2 < found.freedom < prior_freedom * 2


def test_cells_that_are_alike_lend_each_other_many_degrees_of_freedom() -> None:
    freedoms = np.full(400, 4.0)
    random = np.random.default_rng(2)
    found = moderate(random.chisquare(4, 400) / 4, freedoms)
    assert np.median(found.freedoms) > 20
    assert np.median(found.variances) == pytest.approx(1.0, rel=0.1)


def test_a_few_wild_cells_hardly_move_the_prior_and_keep_their_own_variance() -> None:
    freedoms = np.full(40, 9.0)
    calm = drawn(20.0, freedoms)
    wild = calm.copy()
    wild[:3] *= 400
    without, found = fit_prior(calm, freedoms), fit_prior(wild, freedoms)
    assert without is not None
    assert found is not None
    assert found.variance == pytest.approx(without.variance, rel=0.35)
    after = moderate(wild, freedoms)
    assert after.variances[:3] == pytest.approx(wild[:3], rel=0.05)
    assert after.variances[3:].max() < 5 * without.variance


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_variances_stay_as_they_are(count: int) -> None:
    variances, freedoms = np.array([1.0, 9.0])[:count], np.array([2.0, 3.0])[:count]
    found = moderate(variances, freedoms)
    assert found.variances.tolist() == variances.tolist()
    assert found.freedoms.tolist() == freedoms.tolist()


def test_constant_cells_say_nothing_of_noise() -> None:
    assert fit_prior(np.zeros(10), np.full(10, 4.0)) is None
    assert fit_prior(np.array([0.0, 0.0, 0.003, 0.003]), np.full(4, 4.0)) is None, "half of them"
    some = np.array([0.0, 1.0, 2.0, 1.5, 0.5])
    assert np.isfinite(moderate(some, np.full(5, 4.0)).variances).all()


variances = st.lists(st.floats(1e-8, 1e-2), min_size=3, max_size=20)


@given(variances, st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(values: list[float], scale: float) -> None:
    freedoms = np.resize([2.0, 4.28, 14.55], len(values))
    before, after = moderate(np.array(values), freedoms), moderate(np.array(values) * scale, freedoms)
    assert after.variances == pytest.approx(before.variances * scale, rel=1e-3)


@given(variances)
def test_a_moderated_variance_lies_between_its_own_and_the_priors(values: list[float]) -> None:
    own, freedoms = np.array(values), np.resize([2.0, 4.28], len(values))
    prior, found = fit_prior(own, freedoms), moderate(own, freedoms)
    assert prior is not None
    low, high = np.minimum(own, prior.variance), np.maximum(own, prior.variance)
    assert (found.variances >= low * (1 - 1e-9)).all()
    assert (found.variances <= high * (1 + 1e-9)).all()
    assert (found.freedoms >= freedoms).all()
    assert (found.freedoms <= freedoms.sum() + 1e-9).all()
