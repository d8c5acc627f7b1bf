"""From runs that ended to alerts: suspected, confirmed by a run of their own, told once, marked fixed; whoever is killed."""

import pytest

from kexbench.domain.alerts import AlertAction
from kexbench.domain.runs import RunState, Trigger
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.analysing import Fragile, Killed, Lab, a_spec

STEP = {"1.1": {"_dhe-rsa": 1.05}, "1.2": {}}
"""Version 1.1 costs 5% more in DHE-RSA."""


@pytest.fixture
def lab(empty_store: ClickHouseStore) -> Lab:
    return Lab(empty_store, dict(STEP))


def test_a_step_is_suspected_confirmed_by_a_run_of_its_own_and_told_once(lab: Lab) -> None:
    run = lab.measured(a_spec())
    lab.advance()
    (upgrade,) = lab.upgrades(run)
    assert (upgrade.outcome, upgrade.compared, upgrade.more) == ("confirming", 7, 2)
    assert {name.split("/")[0] for name in upgrade.suspected} == {"local"}
    assert all("_dhe-rsa" in name for name in upgrade.suspected)
    assert lab.alerts() == [], "a suspicion is no alert"
    (confirming,) = lab.confirming()
    assert confirming.run_id == upgrade.confirmation_run
    assert (confirming.plan.spec_name, confirming.plan.measure.invocations) == ("confirm-watched", 12)
    assert [f"local/{case.case_id}" for case in confirming.plan.cases] == list(upgrade.suspected)
    assert [one.reference for one in confirming.plan.subjects] == ["fake@1.0", "fake@1.1"]
    assert (confirming.plan.measure.sentinel, len(confirming.plan.jobs[0].blocks)) == (False, 1)
    lab.measure(confirming)
    lab.advance()
    (alert,) = lab.alerts()
    assert (alert.status, alert.cause.before, alert.cause.after) == ("open", "1.0", "1.1")
    assert (alert.spec_names, alert.notify) == (("watched",), ("crypto-team",))
    assert alert.run_ids == (confirming.run_id, run.run_id)
    assert [cell.move.ratio for cell in alert.cells] == pytest.approx([1.05, 1.05], rel=0.001)
    assert "DHE" in alert.sentence
    assert "2 of 7 cases cost more" in alert.sentence
    (upgrade,) = lab.upgrades(run)
    assert (upgrade.outcome, upgrade.alert_id) == ("confirmed", alert.alert_id)
    lab.settle()
    lab.measured(a_spec(), Trigger.SCHEDULE)
    lab.settle()
    assert len(lab.store.runs(100)) == 3, "what was told is not confirmed again"
    assert [event.action for event in lab.store.alert_events(alert.alert_id)] == [AlertAction.RAISED]
