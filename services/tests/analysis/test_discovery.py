"""Benjamini & Hochberg's procedure against their own example and other code."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from kexbench.analysis.discovery import false_discovery_rates


def test_the_example_of_the_paper_rejects_four_of_fifteen() -> None:
    """Benjamini & Hochberg 1995, section 3.2, at a rate of 0.05."""
    chances = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    chances += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert (false_discovery_rates(np.array(chances)) <= 0.05).sum() == 4


def test_rates_worked_by_hand() -> None:
    """In order 0.01, 0.02, 0.04 of three: times 3/1, 3/2, 3/3 that is 0.03, 0.03, 0.04."""
    assert false_discovery_rates(np.array([0.04, 0.01, 0.02])) == pytest.approx([0.04, 0.03, 0.03])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_rates_are_those_of_scipy(chances: list[float]) -> None:
    assert false_discovery_rates(np.array(chances)) == pytest.approx(scipy.stats.false_discovery_control(chances))


def test_nothing_has_no_rates() -> None:
    assert false_discovery_rates(np.array([])).size == 0
