"""What a store tells of where there are numbers, without reading them, and how chosen ones are read."""

from dataclasses import replace
from datetime import timedelta

from kexbench.domain.kits import KitManifest, Package
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Selection, Store
from tests.builders import ECDSA, HOST, NOON, RSA, a_kit, a_run, an_invocation
from tests.store.test_contract import CPU, HOSTILE, ONE, TWO, dies_after, started

OTHER_CPU = HOST.model_copy(update={"cpu_model": "Other CPU"})
NAMES = {name: f"fake@{name[5:]}~{name[5:]}~{a_kit(name).build_profile.id}" for name in (ONE, TWO)}
FIELDS = KitManifest.model_fields.keys() - {"kit_id", "version_key"}


def a_started_run(store: Store, run_id: str, day: int = 0, **fields: object) -> Run:
    return started(store, a_run(run_id, created_at=NOON + timedelta(days=day), **fields))  # type: ignore[arg-type]


def test_subjects_are_listed_with_the_cases_that_they_have_on_each_host_kind(store: ClickHouseStore) -> None:
    assert store.measured_subjects(CPU) == []
    here, there = a_started_run(store, "here"), a_started_run(store, "there", 1, host=OTHER_CPU)
    store.add_invocation(here, an_invocation(here, cpu_ns={ONE: 1, TWO: 1}))
    store.add_invocation(here, an_invocation(here, 1, cpu_ns={ONE: 1}, case_id=ECDSA))
    store.add_invocation(there, an_invocation(there, 2, cpu_ns={TWO: 1}))
    dies_after(1, store, there, an_invocation(there, cpu_ns={ONE: 2}))
    found = [
        (row.subject.name, row.host_kind.cpu_model, set(row.case_ids), row.measured_at)
        for row in store.measured_subjects(CPU)
    ]
    minute = timedelta(minutes=1)
    assert found == [
        (NAMES[ONE], HOST.cpu_model, {RSA, ECDSA}, NOON + minute + timedelta(seconds=1)),
        (NAMES[TWO], "Other CPU", {RSA}, NOON + minute + timedelta(days=1, seconds=2)),
        (NAMES[TWO], HOST.cpu_model, {RSA}, NOON + minute),
    ]
    assert store.measured_subjects(replace(CPU, libraries=("openssl",))) == []
    assert [row.subject for row in store.measured_subjects(CPU)][:2] == store.subjects()


def test_cases_are_listed_with_the_host_kinds_that_measured_them(store: ClickHouseStore) -> None:
    assert store.measured_cases(CPU) == []
    here, there = a_started_run(store, "here"), a_started_run(store, "there", 1, host=OTHER_CPU)
    for run in (here, there):
        store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1, TWO: 1}))
    store.add_invocation(here, an_invocation(here, 1, cpu_ns={ONE: 1}, case_id=ECDSA))
    dies_after(1, store, there, an_invocation(there, 1, cpu_ns={ONE: 2}, case_id=ECDSA))

    def cpus_by_case() -> dict[str, list[str]]:
        return {row.case.case_id: [kind.cpu_model for kind in row.host_kinds] for row in store.measured_cases(CPU)}

    assert cpus_by_case() == {RSA: ["Other CPU", HOST.cpu_model], ECDSA: [HOST.cpu_model]}
    assert store.measured_cases(replace(CPU, libraries=("openssl",))) == []
    newer = a_started_run(store, "newer", 2)
    store.add_invocation(newer, an_invocation(newer, cpu_ns={TWO: 1}))
    assert cpus_by_case() == {RSA: [HOST.cpu_model, "Other CPU"], ECDSA: [HOST.cpu_model]}


def test_of_kits_of_one_name_the_newest_is_listed(store: Store) -> None:
    older = a_kit(ONE)
    newer = KitManifest.sealed(**{name: value for name, value in older if name in FIELDS} | {"worker_flags": "-O3"})
    for day, kit in ((1, newer), (0, older)):
        run = a_started_run(store, f"day-{day}", day, kits={ONE: kit})
        store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1}))
    assert [row.subject.kit_id for row in store.measured_subjects(CPU)] == [newer.kit_id]


def test_every_run_that_has_a_subject_in_a_case_is_listed_with_its_invocations(store: ClickHouseStore) -> None:
    assert store.appearances(CPU) == []
    old, new = a_started_run(store, "old"), a_started_run(store, "new", 1, host=OTHER_CPU)
    for number in (0, 4):
        store.add_invocation(old, an_invocation(old, number, cpu_ns={ONE: 1, TWO: 1}))
    store.add_invocation(old, an_invocation(old, 4, cpu_ns={ONE: 9}, attempt=2))
    store.add_invocation(new, an_invocation(new, cpu_ns={ONE: 1}, case_id=ECDSA))
    dies_after(1, store, new, an_invocation(new, 1, cpu_ns={TWO: 2}))
    units = {f"{old.plan.jobs[job].job_id}/{number}" for job, number in ((0, 0), (1, 4))}
    found = store.appearances(CPU)
    assert [(row.run_id, row.subject, row.case, set(row.units), row.host_kind.cpu_model) for row in found] == [
        ("old", NAMES[ONE], old.plan.case(RSA), units, HOST.cpu_model),
        ("old", NAMES[TWO], old.plan.case(RSA), units, HOST.cpu_model),
        ("new", NAMES[ONE], old.plan.case(ECDSA), {f"{new.plan.jobs[0].job_id}/0"}, "Other CPU"),
    ]
    assert found[0].measured_at == NOON + timedelta(minutes=1, seconds=4)
    assert [row.run_id for row in store.appearances(replace(CPU, run_id="new"))] == ["new"]
    assert [row.subject for row in store.appearances(replace(CPU, subjects=(NAMES[TWO],)))] == [NAMES[TWO]]


def test_named_subjects_of_named_runs_are_read_whole_and_nothing_else(store: Store) -> None:
    for day, run_id in enumerate(("one", "two", "three")):
        run = a_started_run(store, run_id, day)
        for number in range(2):
            store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: day + 1, TWO: 10 * (day + 1)}))

    def read(**narrowed: tuple[str, ...]) -> list[tuple[str, float]]:
        return sorted((row.run_id, row.level) for row in store.samples(Selection(Metric.CPU_NS, **narrowed)))  # type: ignore[arg-type]

    assert read(subjects=(NAMES[ONE],)) == [("three", 3)] * 2
    assert read(runs=("one", "two"), subjects=(NAMES[ONE],)) == [("one", 1)] * 2 + [("two", 2)] * 2
    assert read(runs=("two",)) == [("two", 2)] * 2 + [("two", 20)] * 2
    assert read(runs=("none",)) == []
    assert read(subjects=(*filter(None, HOSTILE),)) == read(runs=(*filter(None, HOSTILE),)) == []
    assert len(read(subjects=(*HOSTILE, NAMES[TWO]))) == 2


def test_the_runs_that_qualify_are_the_newest_few_with_a_copy_of_each_case(store: Store) -> None:
    system, copy = "openssl@system", "openssl@system+copy=2"
    kits = {name: a_kit(name, version="3.0.2") for name in (system, copy)}
    assert store.qualifying_runs(CPU) == set()
    for day in range(5):
        run = a_started_run(store, f"day-{day}", day, kits=kits)
        cpu_ns = {system: 1, copy: 1} if day < 4 else {system: 1}
        store.add_invocation(run, an_invocation(run, cpu_ns=cpu_ns))
        if day == 0:
            store.add_invocation(run, an_invocation(run, cpu_ns=cpu_ns, case_id=ECDSA))
    assert store.qualifying_runs(CPU) == {"day-0", "day-1", "day-2", "day-3"}
    assert store.qualifying_runs(replace(CPU, case_ids=(RSA,))) == {"day-1", "day-2", "day-3"}
    assert store.qualifying_runs(replace(CPU, pool="elsewhere")) == set()
    assert store.qualifying_runs(replace(CPU, libraries=("fake",))) == set()


def test_the_harness_of_runs_is_that_of_their_plans(store: Store) -> None:
    one, two = a_run("one"), a_run("two")
    old = two.model_copy(update={"plan": two.plan.model_copy(update={"harness_version": 1})})
    store.add_run(one.announced())
    for run in (one, old):
        store.add_run(run)
    assert store.harness_versions(["one", "two", "none"]) == {"one": one.plan.harness_version, "two": 1}
    assert store.harness_versions([]) == {}


def test_what_libraries_stand_on_is_named_by_their_kits(store: Store) -> None:
    packages = [Package(name="libnettle8", version="3.8.1-2", sha256=None)]
    packed, bare = a_kit("fake@1.0", packages=packages), a_kit("fake@1.1")
    store.add_run(a_run("one", kits={"fake@1.0": packed, "fake@1.1": bare}))
    store.add_run(a_run("announced").announced())
    assert store.components(["one", "announced"]) == {packed.kit_id: {"nettle": "3.8.1"}, bare.kit_id: {}}
    assert store.components([]) == {}
