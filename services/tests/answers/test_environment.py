"""What differs between a run and the run before it of the same spec."""

from datetime import timedelta
from typing import Any

import pytest

from kexbench.answers.environment import EnvironmentChanges, environment_changes
from kexbench.domain.hosts import HostFacts, HostKind, kind_of
from kexbench.domain.kits import Package
from kexbench.domain.runs import JobAttempt, Purpose, Run
from kexbench.planning.plan import make_plan
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, POOLS, an_attempt
from tests.builders import HOST, NOON, a_catalogue, a_kit, a_run

ONE, TWO = "fake@1.0", "fake@1.1"


def a_run_after(hours: int, host: HostFacts | None = HOST, **changes: Any) -> Run:
    return a_run(f"run-{hours}", created_at=NOON + timedelta(hours=hours), host=host).model_copy(update=changes)


def stored(store: ClickHouseStore, *runs: Run) -> None:
    for run in runs:
        store.add_run(run)


def changes_of(store: ClickHouseStore, run: Run, pool: str = "local", host: HostFacts = HOST) -> EnvironmentChanges:
    attempts = store.attempts(run.run_id)
    changes = environment_changes(store, run, attempts, HostKind(pool, kind_of(host)))
    assert changes is not None
    return changes


def words(changes: EnvironmentChanges) -> list[tuple[str, str | None, str | None]]:
    return [(change.what, change.before, change.after) for change in changes.host]


def test_equal_environments_have_no_differences(empty_store: ClickHouseStore) -> None:
    earlier, later = a_run_after(1), a_run_after(2)
    stored(empty_store, earlier, later)
    changes = changes_of(empty_store, later)
    assert (changes.since_run, changes.since) == (earlier.run_id, earlier.created_at)
    assert (changes.host, changes.kits, changes.measure) == ((), {}, ())


def test_recorded_facts_of_the_machine_that_differ_are_listed(empty_store: ClickHouseStore) -> None:
    now = HOST.model_copy(
        update={"kernel": "6.12.1", "microcode": "0x2b", "governor": "performance", "cpu_flags": ("aes", "vaes")}
    )
    before = HOST.model_copy(update={"microcode": "0x2a", "cpu_flags": ("aes", "tsx")})
    later = a_run_after(2, host=now)
    stored(empty_store, a_run_after(1, host=before), later)
    assert words(changes_of(empty_store, later, host=now)) == [
        ("kernel", "6.1.0", "6.12.1"),
        ("microcode", "0x2a", "0x2b"),
        ("governor", "not known", "performance"),
        ("CPU flags", "tsx", "vaes"),
    ]


def test_kits_differ_in_versions_compilers_packages_and_whether_they_are_there(empty_store: ClickHouseStore) -> None:
    def nettle(version: str) -> Package:
        return Package(name="libnettle8", version=version, sha256=None)

    earlier = a_run_after(1, kits={ONE: a_kit(ONE, packages=[nettle("3.8")]), "fake@0.9": a_kit("fake@0.9")})
    later = a_run_after(2, kits={ONE: a_kit(ONE, flags="-O3", packages=[nettle("3.10")]), TWO: a_kit(TWO)})
    stored(empty_store, earlier, later)
    listed = {
        reference: [(change.what, change.before, change.after) for change in changes]
        for reference, changes in changes_of(empty_store, later).kits.items()
    }
    assert listed == {
        ONE: [("flags", "none", "-O3"), ("libnettle8", "3.8", "3.10")],
        "fake@0.9": [("version", "0.9", None)],
        TWO: [("version", None, "1.1")],
    }


def test_how_it_is_measured_may_differ(empty_store: ClickHouseStore) -> None:
    later = a_run_after(2)
    plan = later.plan.model_copy(update={"harness_version": later.plan.harness_version - 1})
    stored(empty_store, a_run_after(1, plan=plan), later)
    (change,) = changes_of(empty_store, later).measure
    assert (change.what, change.after) == ("method", str(later.plan.harness_version))


@pytest.mark.parametrize(
    "other",
    [
        a_run_after(3),
        a_run_after(1).announced(),
        a_run_after(1, host=HOST.model_copy(update={"cpu_model": "Other CPU"})),
        a_run_after(1, purpose=Purpose.QUALIFICATION),
    ],
    ids=["a later one", "one that was not started", "one on another CPU", "one for another purpose"],
)
def test_only_an_earlier_run_of_the_same_kind_is_compared(other: Run, empty_store: ClickHouseStore) -> None:
    run = a_run_after(2)
    stored(empty_store, other, run)
    assert environment_changes(empty_store, run, [], HostKind("local", kind_of(HOST))) is None


def test_on_a_cluster_the_nodes_of_one_pool_are_compared(empty_store: ClickHouseStore) -> None:
    plan = make_plan(CLUSTER_SPEC, "spec.yaml", a_catalogue(), pools=POOLS)
    earlier, later = (a_run_after(hours, host=None, plan=plan) for hours in (1, 2))
    stored(empty_store, earlier, later)
    in_pool = [place for place, job in enumerate(plan.jobs) if job.pool == "pool-a"]
    elsewhere = next(place for place, job in enumerate(plan.jobs) if job.pool == "pool-b")

    def tried(run: Run, place: int, kernel: str) -> JobAttempt:
        host = HOST.model_copy(update={"kernel": kernel})
        return an_attempt(run, uid=f"{run.run_id}-{place}", host=host, job=place)

    for place, kernel in ((in_pool[0], "6.1.0"), (elsewhere, "5.10")):
        empty_store.add_attempt(tried(earlier, place, kernel), plan.jobs[place].pool)
    for place, kernel in ((in_pool[0], "6.1.0"), (in_pool[1], "6.2.0"), (elsewhere, "5.15")):
        empty_store.add_attempt(tried(later, place, kernel), plan.jobs[place].pool)
    assert words(changes_of(empty_store, later, pool="pool-a")) == [("kernel", "6.1.0", "6.1.0, 6.2.0")]
