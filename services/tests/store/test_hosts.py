"""Hosts that are comparable are one kind with one history; those that are not have histories of their own."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kexbench.domain.hosts import HostFacts, kind_of
from kexbench.domain.runs import JobAttempt
from kexbench.domain.samples import Metric
from kexbench.store import migrate
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import load_migrations
from kexbench.store.port import Selection, Store
from tests.api.cluster import an_attempt
from tests.builders import HOST, NOON, RSA, a_run, an_invocation, an_outcome
from tests.exported import exported_rows
from tests.store.test_contract import ONE, TWO, started
from tests.stores import clauses_of, raw

NODE = HOST.model_copy(
    update={"cpu_family": "25/17", "cpu_stepping": "1", "microcode": "0x1", "governor": "performance", "smt": False}
)
RECYCLED = NODE.model_copy(update={"kernel": "6.1.0-42", "memory_bytes": NODE.memory_bytes - 4096})


def measured_on(store: Store, *hosts: HostFacts) -> None:
    """A run a day: on the first host of version 1.0, on the others of version 1.1."""
    for day, host in enumerate(hosts):
        run = started(store, a_run(f"run-{day}", created_at=NOON + timedelta(days=day), host=host))
        cpu_ns = {TWO if day else ONE: 10.0 + day}
        outcomes = [an_outcome(ONE if day else TWO)]
        store.add_invocation(run, an_invocation(run, cpu_ns=cpu_ns, outcomes=outcomes, host=host))


def histories(store: Store) -> list[tuple[str, list[float]]]:
    """Of each kind of host what was measured on it, in version order; the kind measured last first."""
    return [
        (kind.cpu_model, [row.level for row in store.levels(Selection(Metric.CPU_NS, "local", kind.cpu_model), [RSA])])
        for kind in store.host_kinds()
    ]


def test_a_recycled_node_goes_on_with_the_history(store: Store) -> None:
    assert RECYCLED.host_id != NODE.host_id
    measured_on(store, NODE, RECYCLED)
    assert histories(store) == [(kind_of(NODE), [10, 11])]


@pytest.mark.parametrize(
    "changed",
    [{"microcode": "0x2"}, {"governor": "powersave"}, {"smt": True}, {"turbo": True}, {"virtualisation": "QEMU"}],
    ids=lambda changed: next(iter(changed)),
)
def test_a_node_that_was_changed_begins_a_history_of_its_own(changed: dict[str, object], store: Store) -> None:
    other = NODE.model_copy(update=changed)
    measured_on(store, NODE, other)
    assert histories(store) == [(kind_of(other), [11]), (kind_of(NODE), [10])]


def test_all_that_is_read_of_one_kind_is_of_that_kind(store: Store) -> None:
    other = NODE.model_copy(update={"governor": "powersave"})
    measured_on(store, NODE, other)
    here = Selection(Metric.CPU_NS, "local", kind_of(other))
    assert [row.run_id for row in store.samples(here)] == ["run-1"]
    assert [row.run_id for row in store.outcomes(here)] == ["run-1"]
    assert [(row.host_kind.cpu_model, row.run_id) for row in store.appearances(here)] == [(kind_of(other), "run-1")]
    assert [row.host_kind.cpu_model for row in store.measured_subjects(here)] == [kind_of(other)]
    assert {row["cpu_model"] for row in exported_rows(store, here)} == {kind_of(other)}
    assert [row.level for row in store.samples(replace(here, cpu_model=None))] == [10, 11]


def test_hosts_of_earlier_releases_are_recognised(dsn: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their kinds follow from the facts in runs and attempts, whatever text their rows have."""
    store = ClickHouseStore(dsn, database, clauses_of(dsn))
    before = [migration for migration in load_migrations() if migration.name != "hosts"]
    on_cluster = NODE.model_copy(update={"governor": "powersave"})
    with monkeypatch.context() as earlier:
        earlier.setattr(migrate, "load_migrations", lambda: before)
        earlier.setattr(ClickHouseStore, "_note_host", lambda _self, _host: None)
        earlier.setattr(ClickHouseStore, "_recognise_hosts", lambda _: None)
        store.migrate()
        measured_on(store, NODE)
        run = started(store, a_run("on-cluster", created_at=NOON + timedelta(days=1), host=None))
        attempt: JobAttempt = an_attempt(run, host=on_cluster)
        store.add_attempt(attempt, "pool-a")
        store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 20.0}, host=on_cluster), on_cluster)
    store.migrate()
    assert dict(histories(store)) == {kind_of(on_cluster): [20], kind_of(NODE): [10]}
    measured_on(store, NODE, RECYCLED)
    assert dict(histories(store)) == {kind_of(on_cluster): [20], kind_of(NODE): [10, 11]}
    store.close()


def test_kinds_follow_the_rule_of_the_release_that_reads(store: ClickHouseStore) -> None:
    measured_on(store, NODE)
    stale = {"host_id": NODE.host_id, "kind": "as an earlier release said", "facts": NODE.model_dump_json()}
    raw(store).insert("hosts", [stale])
    assert [kind.cpu_model for kind in store.host_kinds()] == ["as an earlier release said"]
    store.migrate()
    assert histories(store) == [(kind_of(NODE), [10])]
