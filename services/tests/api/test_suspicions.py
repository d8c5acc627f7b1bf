"""Decisions about the numbers of an upgrade: what adds up over versions, and when a regression is over."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kexbench.alerts.suspicions import answered, cause_of, chained, has_recovered
from kexbench.domain.alerts import AlertCell
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Metric
from kexbench.domain.screenings import UpgradeOutcome
from tests.builders import HOST, RSA, a_finding, a_screening

HERE = (RSA, HostKind("local", HOST.cpu))


def move(ratio: float, error: float = 0.002) -> Ratio:
    return Ratio(ratio=ratio, low=ratio * math.exp(-error), high=ratio * math.exp(error))


def cells(ratio: float) -> tuple[AlertCell, ...]:
    return a_finding(ratio=ratio).cells


@given(ratios=st.lists(st.floats(0.5, 2), min_size=1, max_size=9))
def test_moves_add_up_and_so_do_the_squares_of_their_errors(ratios: list[float]) -> None:
    found = chained([move(ratio) for ratio in ratios])
    assert found.ratio == pytest.approx(math.prod(ratios))
    assert math.log(found.high / found.low) / 2 == pytest.approx(0.002 * math.sqrt(len(ratios)))


@pytest.mark.parametrize(
    ("since", "recovered"),
    [
        (move(1.0), True),
        (move(0.9), True),
        (move(1.004), True),
        (move(1.006), False),
        (move(1.0, error=0.06), False),
        (None, False),
    ],
    ids=["as before", "cheaper", "as good as before", "still more", "who knows", "not measured"],
)
def test_a_version_has_recovered_when_it_costs_no_more_than_before_and_surely_less_than_the_regression(
    since: Ratio | None, recovered: bool
) -> None:
    known = {} if since is None else {HERE: since}
    assert has_recovered(known, cells(1.05), relevant=0.005) is recovered


def test_one_cell_that_has_not_recovered_is_enough() -> None:
    other = cells(1.05)[0].model_copy(update={"case_id": "other"})
    both = {HERE: move(1.0), ("other", HERE[1]): move(1.03)}
    assert not has_recovered(both, [*cells(1.05), other], relevant=0.005)


def test_the_cause_of_an_upgrade_names_sources_where_both_are_of_one_version() -> None:
    upgrade = a_screening().upgrades[0]
    cause = cause_of("fake", Metric.CPU_NS, upgrade.before, upgrade.after)
    assert (cause.before, cause.after) == ("1.0", "1.1")
    rebuilt = upgrade.before.model_copy(update={"source": "debian/trixie"})
    cause = cause_of("fake", Metric.CPU_NS, upgrade.before, rebuilt)
    assert (cause.before, cause.after) == ("1.0 (1.0)", "1.0 (debian/trixie)")


@pytest.mark.parametrize(
    ("outcome", "own", "other"),
    [
        ("confirming", True, True),
        ("not confirmed", True, False),
        ("cannot confirm", False, False),
        ("confirmed", True, False),
        ("quiet", False, False),
    ],
)
def test_what_is_asked_or_refuted_is_not_asked_again(outcome: UpgradeOutcome, own: bool, other: bool) -> None:
    screening = a_screening()
    upgrade = screening.upgrades[0].model_copy(update={"outcome": outcome})
    known = [screening.model_copy(update={"upgrades": (upgrade,)})]
    assert (answered(upgrade.key, "example", known) == {f"local/{RSA}": upgrade}) is own
    assert (answered(upgrade.key, "another", known) != {}) is other
    assert answered("another", "example", known) == {}
