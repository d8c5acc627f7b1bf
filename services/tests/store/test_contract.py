"""What every store promises, checked on embedded chDB and on a server over HTTP."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import timedelta
from random import Random
from typing import Any

import httpx2
import pytest

from kexbench.analysis.rounds import values_of
from kexbench.domain.instruments import Instrument
from kexbench.domain.plans import Isolation
from kexbench.domain.runs import JobAttempt, Run, RunState
from kexbench.domain.samples import WITHDRAWN_REASON, Invocation, Metric, OutcomeKind, Sample
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import InvocationKey, Selection, Store
from kexbench.store.runs import MANY_RUNS
from tests.builders import (
    ECDSA,
    HOST,
    NOON,
    RSA,
    SPEC,
    a_kit,
    a_profile,
    a_run,
    an_event,
    an_invocation,
    an_outcome,
    newest_runs,
)
from tests.exported import exported_rows
from tests.store.conftest import dsn_of
from tests.stores import raw

CPU = Selection(Metric.CPU_NS)
ONE, TWO = "fake@1.0", "fake@1.1"
HOSTILE = [
    "a'b",
    "\\",
    "\\'",
    "\t",
    "\n",
    "\0",
    "'; DROP TABLE runs; --",
    "{metric:String}",
    "%s",
    "é",
    "[]",
    "\\N",
    "",
]


@pytest.fixture(params=["embedded", "server"])
def dsn(request: pytest.FixtureRequest) -> str:
    return dsn_of(request)


def whole_state(store: Store, run: Run) -> dict[str, Any]:
    """All that a reader can learn of a store that holds one run."""
    return {
        "runs": newest_runs(store, 10),
        "run": store.run(run.run_id),
        "progress": store.progress([run.run_id]),
        "invocations": store.invocations(run.run_id),
        "stored by job": store.stored_by_job(run.run_id),
        "hosts": store.host_kinds(),
        "subjects": store.subjects(),
        "medians": store.samples(CPU),
        "outcomes": store.outcomes(CPU),
        "export": exported_rows(store, CPU),
    }


def medians(store: Store, selection: Selection = CPU) -> list[tuple[str, float]]:
    return [(f"{row.subject.library}@{row.subject.source}", row.level) for row in store.samples(selection)]


def started(store: Store, run: Run | None = None) -> Run:
    run = run or a_run()
    store.add_run(run)
    store.add_event(an_event(run))
    return run


def without(found: Any, *columns: str) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in columns}


def test_an_empty_store_answers_every_question_with_nothing(store: Store) -> None:
    state = whole_state(store, a_run())
    assert state.pop("run") is None
    assert not any(state.values())


def test_the_engine_says_what_it_is(store: Store, dsn: str) -> None:
    assert store.engine().startswith("chDB 2" if dsn.startswith("chdb") else "ClickHouse 2")


def test_a_run_comes_back_as_it_was(store: Store) -> None:
    run = a_run(spec=SPEC.replace("Two versions", "Zwei «Versionen» und 'keine' \\\\n"))
    store.add_run(run)
    assert store.run(run.run_id) == run
    assert newest_runs(store, 10) == [run]
    assert store.run("another") is None


def test_an_invocation_comes_back_as_medians_subjects_hosts_and_values(store: Store) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, 4, cpu_ns={ONE: [1000, 1020, 1001], TWO: [2000, 2100]}))
    first, second = store.samples(CPU)
    assert (first.level, second.level) == (1001, 2050)
    assert (first.case, first.run_id) == (run.plan.case(RSA), run.run_id)
    assert first.measured_at == NOON + timedelta(minutes=1, seconds=4)
    assert first.unit == second.unit == f"{run.plan.jobs[1].job_id}/4"
    kits = [run.kits[ONE], run.kits[TWO]]
    assert [asdict(row)["kit_id"] for row in store.subjects()] == [kit.kit_id for kit in kits]
    assert store.subjects() == [first.subject, second.subject]
    assert first.subject.build_profile == kits[0].build_profile.id
    assert [asdict(row) for row in store.host_kinds()] == [{"pool": "local", "cpu_model": HOST.cpu_model}]
    assert store.invocations(run.run_id) == {InvocationKey(run.plan.jobs[1].job_id, 1, RSA, 4)}
    exported = exported_rows(store, CPU)
    assert [row["values"] for row in exported] == [[1000, 1020, 1001], [2000, 2100]]
    assert (exported[0]["n"], exported[0]["case_id"], exported[0]["version"]) == (3, RSA, "1.0")


def test_an_export_that_is_left_stops_its_query(store: ClickHouseStore, dsn: str) -> None:
    """An engine in this process lists its queries. A server notices that nobody reads the answer, which is larger than
    what sockets keep."""
    run = started(store)
    random = Random(0)
    values = [random.random() for _ in range(300_000)]  # which nothing compresses
    for number in range(6):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: values, TWO: values}))
    running = "SELECT count() AS queries FROM system.processes WHERE query LIKE '%level%FROM samples FINAL%'"
    with store.export(CPU):
        if dsn.startswith("chdb:"):
            assert raw(store).query(running)[0]["queries"] == 2  # that one, and the question itself
    if dsn.startswith("chdb:"):
        assert raw(store).query(running)[0]["queries"] == 1
    else:
        assert httpx2.get(f"{dsn}/given-up", timeout=60).status_code == 204
    assert len(exported_rows(store, CPU)) == 12


def test_several_exports_can_be_read_at_the_same_time_also_in_other_threads(store: Store) -> None:
    run = started(store)
    for number in range(6):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: number + 1, TWO: 7}))
    nowhere = replace(CPU, case_ids=(ECDSA,))
    with store.export(CPU) as one, store.export(nowhere) as none, ThreadPoolExecutor(1) as other:
        assert other.submit(one.read_all).result().num_rows == 12
        assert other.submit(none.read_all).result().num_rows == 0
        assert len(store.samples(CPU)) == 12


def test_each_metric_is_apart_from_the_others(store: Store) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1000}))
    assert medians(store, Selection(Metric.CLIENT_CPU_NS)) == [(ONE, 250)]
    assert medians(store, Selection(Metric.SERVER_CPU_NS, run_id=run.run_id)) == [(ONE, 750)]
    assert medians(store, Selection(Metric.WALL_NS)) == []


def test_what_earlier_runners_wrote_of_invocations_with_preempted_batches_is_left_out(store: Store) -> None:
    """They gave no levels; their results may be stored again from the folders of runs."""
    run = started(store)
    earlier = an_invocation(run, cpu_ns={ONE: 1000}).model_copy(update={"preempted_batches": 2})
    store.add_invocation(run, earlier)
    store.add_invocation(run, an_invocation(run, 1, cpu_ns={ONE: 1000}))
    for metric in (Metric.CPU_NS, Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS):
        (row,) = store.samples(Selection(metric))
        assert row.unit.endswith("/1")


def test_of_what_preemption_spoilt_it_is_known_in_how_many_invocations(store: Store) -> None:
    run = started(store)
    for number in range(3):
        both = {ONE: 1000.0, TWO: 1000.0}
        spoilt = an_invocation(run, number, cpu_ns=both, preempted_batches=9, without_sides=[ONE] if number else [])
        store.add_invocation(run, spoilt)
    bystander = an_invocation(run, 3, cpu_ns={ONE: 1000}, without_sides=[ONE])  # as of a peer, which has one side
    store.add_invocation(run, bystander)
    again = an_invocation(run, 0, cpu_ns={ONE: 1000}, attempt=2, preempted_batches=9, without_sides=[ONE])
    store.add_invocation(run, again)
    for selection in (Selection(Metric.CLIENT_CPU_NS), Selection(Metric.SERVER_CPU_NS, run_id=run.run_id)):
        (row,) = store.disturbed(selection)
        assert (row.subject.version, row.kind, row.invocations) == ("1.0", "disturbed", 2)
    assert store.disturbed(CPU) == store.disturbed(Selection(Metric.CLIENT_BYTES)) == []
    assert store.disturbed(Selection(Metric.SERVER_TRANSFER_CPU_NS)) == [], "the case has no transfer"
    assert store.outcomes(Selection(Metric.CLIENT_CPU_NS)) == []


def held(run: Run, number: int, server_bytes: float, format_version: int) -> Invocation:
    made = an_invocation(run, number, cpu_ns={ONE: 1000})
    sample = Sample(subject=ONE, metric=Metric.SERVER_HELD_BYTES, values=(server_bytes,))
    return made.model_copy(update={"format_version": format_version, "samples": (*made.samples, sample)})


def test_a_false_number_of_an_earlier_runner_is_kept_but_not_shown_and_the_reason_is(store: Store) -> None:
    """Whenever its invocation is delivered: also after one of this release, and again."""
    run = started(store)
    store.add_invocations(run, [held(run, 0, 46_730, 2), held(run, 1, 747_680, 1)])
    store.add_invocations(run, [held(run, 1, 747_680, 1)])
    here = Selection(Metric.SERVER_HELD_BYTES)
    for selection in (here, Selection(Metric.SERVER_HELD_BYTES, run_id=run.run_id)):
        assert [row.level for row in store.samples(selection)] == [46_730]
        (row,) = store.withdrawn(selection)
        assert (row.subject.version, row.kind, row.reason, row.invocations) == ("1.0", "withdrawn", WITHDRAWN_REASON, 1)
    assert [row.level for row in store.samples(CPU)] == [1000, 1000]
    assert store.withdrawn(CPU) == store.withdrawn(Selection(Metric.CLIENT_HELD_BYTES)) == []
    assert store.withdrawn_metrics() == {"server_held_bytes"}


def test_every_write_can_be_repeated_without_changing_anything(store: Store) -> None:
    run = a_run()
    writes: list[Callable[[], None]] = [
        lambda: store.add_run(run),
        lambda: store.add_event(an_event(run)),
        lambda: store.add_invocation(
            run, an_invocation(run, cpu_ns={ONE: [5, 6]}, outcomes=[an_outcome(TWO)], preempted_batches=2)
        ),
        lambda: store.add_event(an_event(run, RunState.FINISHED, seconds=9)),
    ]
    for write in writes:
        write()
    before = whole_state(store, run)
    assert before["progress"][run.run_id].invocations_stored == 1
    assert before["progress"][run.run_id].preempted_batches == 2
    for write in [*writes, *writes]:
        write()
    assert whole_state(store, run) == before


def test_the_same_invocation_with_other_content_is_never_counted_twice(store: Store) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [5, 6], TWO: [7, 8]}))
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: [50, 60], TWO: [70, 80]}))
    assert medians(store) in ([(ONE, 5.5), (TWO, 7.5)], [(ONE, 55), (TWO, 75)])
    assert store.progress([run.run_id])[run.run_id].invocations_stored == 1
    assert len(exported_rows(store, CPU)) == 2


def test_of_an_invocation_twice_in_one_delivery_the_last_one_counts_for_every_reader(store: Store) -> None:
    run = started(store)
    store.add_invocations(run, [an_invocation(run, cpu_ns={ONE: [level, level]}) for level in (20.0, 60.0, 40.0)])
    assert [row.level for row in store.samples(CPU)] == [40]
    assert [row["median"] for row in exported_rows(store, CPU)] == [40]


def test_a_run_is_read_as_it_is_before_and_after_its_start(store: Store) -> None:
    started_run = a_run(host=None)
    queued = started_run.model_copy(update={"kits": {}, "material": {}})
    store.add_run(queued)
    assert [store.run(queued.run_id), store.run(queued.run_id)] == [queued, queued]
    store.add_run(started_run)
    assert [store.run(queued.run_id), store.run(queued.run_id)] == [started_run, started_run]


def test_attempts_are_read_of_a_job_or_of_the_whole_run(store: Store) -> None:
    run = started(store)
    first, second = (job.job_id for job in run.plan.jobs)
    tries = [
        JobAttempt(
            run_id=run.run_id,
            job_id=job_id,
            attempt=number,
            host=HOST,
            isolation=Isolation.EXCLUSIVE,
            node="node",
            pod=f"pod-{number}",
            pod_uid=f"{job_id}-{number}",
            started_at=NOON,
        )
        for job_id in sorted([first, second])
        for number in (1, 2)
    ]
    for tried in reversed(tries):
        store.add_attempt(tried, "pool-a")
    assert store.attempts(run.run_id) == tries
    assert store.attempts(run.run_id, second) == [tried for tried in tries if tried.job_id == second]
    assert store.attempts("none", first) == []


def test_a_run_of_the_same_id_made_at_another_time_does_not_hide_the_first(store: Store) -> None:
    first, second = a_run(), a_run(created_at=NOON + timedelta(days=1))
    store.add_run(first)
    store.add_run(second)
    assert store.run(first.run_id) == first


@pytest.mark.parametrize("order", [(1, 2), (2, 1), (3, 2, 1)])
def test_of_several_attempts_exactly_the_first_counts_whichever_came_first(
    store: Store, order: tuple[int, ...]
) -> None:
    run = started(store)
    for attempt in order:
        store.add_invocation(
            run,
            an_invocation(
                run,
                cpu_ns={ONE: [100 * attempt] * attempt},
                outcomes=[an_outcome(TWO, reason=f"attempt {attempt}")],
                attempt=attempt,
                preempted_batches=attempt,
            ),
        )
    assert medians(store) == [(ONE, 100)]
    assert [row.reason for row in store.outcomes(CPU)] == ["attempt 1"]
    assert [row["values"] for row in exported_rows(store, CPU)] == [[100]]
    progress = store.progress([run.run_id])[run.run_id]
    assert (progress.invocations_stored, progress.preempted_batches) == (1, 1)
    assert {key.attempt for key in store.invocations(run.run_id)} == set(order)


def test_invocations_of_a_job_are_listed_and_counted_once_whatever_their_attempts(store: Store) -> None:
    run = started(store)
    first, second = (job.job_id for job in run.plan.jobs)
    for number, attempt in ((0, 1), (0, 2), (1, 1), (3, 1)):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: 1}, attempt=attempt))
    assert store.stored_by_job(run.run_id) == {first: 2, second: 1}
    assert store.stored_by_job("none") == {}
    assert store.invocations(run.run_id, second) == {InvocationKey(second, 1, RSA, 3)}
    assert {key.job_id for key in store.invocations(run.run_id)} == {first, second}


def test_attempts_are_chosen_for_each_invocation_apart(store: Store) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, 0, cpu_ns={ONE: 1}))
    for number in (0, 1):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: 2}, attempt=2))
    store.add_invocation(run, an_invocation(run, 0, cpu_ns={ONE: 3}, attempt=2, case_id=ECDSA))
    assert sorted(value for _, value in medians(store)) == [1, 2, 3]


class Killed(Exception):
    """Stands for the end of the process."""


class DyingStore(ClickHouseStore):
    """Ends after so many of an invocation's inserts."""

    survives = 0

    def _insert(self, table: str, content: Any) -> None:
        if self.survives == 0:
            raise Killed
        self.survives -= 1
        super()._insert(table, content)

    def close(self) -> None:
        """What is killed leaves everything as it is."""
        self._unsummarised.clear()
        super().close()


def dies_after(inserts: int, store: ClickHouseStore, run: Run, *invocations: Invocation) -> None:
    dying = raw(store).opened_as(DyingStore)
    dying.survives = inserts
    with pytest.raises(Killed):
        dying.add_invocations(run, invocations)
    dying.close()


@pytest.mark.parametrize("inserts", [1, 2, 5])
def test_an_upload_killed_between_its_inserts_counts_for_nothing_until_repeated(
    store: ClickHouseStore, inserts: int
) -> None:
    run = started(store)
    invocation = an_invocation(run, cpu_ns={ONE: [5, 6]}, outcomes=[an_outcome(TWO)])
    before = whole_state(store, run)
    dies_after(inserts, store, run, invocation)
    assert whole_state(store, run) == before
    store.add_invocation(run, invocation)
    assert medians(store) == [(ONE, 5.5)]
    assert [row.invocations for row in store.outcomes(CPU)] == [1]


@pytest.mark.parametrize("inserts", [1, 2])
def test_of_several_invocations_in_one_delivery_none_counts_until_all_are_stored(
    store: ClickHouseStore, inserts: int
) -> None:
    run = started(store)
    delivery = [an_invocation(run, number, cpu_ns={ONE: [5, 6]}, outcomes=[an_outcome(TWO)]) for number in range(6)]
    before = whole_state(store, run)
    dies_after(inserts, store, run, *delivery)
    assert whole_state(store, run) == before
    for part in (delivery[:2], delivery, delivery):
        store.add_invocations(run, part)
    assert medians(store) == [(ONE, 5.5)] * 6
    assert [row.invocations for row in store.outcomes(CPU)] == [6]
    assert store.progress([run.run_id])[run.run_id].invocations_stored == 6
    assert len(exported_rows(store, CPU)) == 6


def test_a_half_stored_first_attempt_does_not_hide_a_whole_second_one(store: ClickHouseStore) -> None:
    run = started(store)
    dies_after(2, store, run, an_invocation(run, cpu_ns={ONE: 1}, attempt=1))
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 2}, attempt=2))
    assert medians(store) == [(ONE, 2)]


def test_a_half_stored_newer_run_does_not_hide_the_older_numbers(store: ClickHouseStore) -> None:
    old, new = started(store), started(store, a_run("new", created_at=NOON + timedelta(days=1)))
    store.add_invocation(old, an_invocation(old, cpu_ns={ONE: 1}))
    dies_after(1, store, new, an_invocation(new, cpu_ns={ONE: 2}))
    assert medians(store) == [(ONE, 1)]


def test_the_newest_run_of_each_cell_is_read_whatever_its_name(store: Store) -> None:
    old, new = a_run("z-older"), a_run("a-newer", created_at=NOON + timedelta(days=40))
    for run in (old, new):
        started(store, run)
    for number in range(3):
        store.add_invocation(old, an_invocation(old, number, cpu_ns={ONE: 100, TWO: 110}))
    store.add_invocation(new, an_invocation(new, cpu_ns={ONE: 200}))
    store.add_invocation(old, an_invocation(old, cpu_ns={ONE: 300}, case_id=ECDSA))
    assert sorted(medians(store)) == [(ONE, 200), (ONE, 300), (TWO, 110), (TWO, 110), (TWO, 110)]
    assert (
        sorted(medians(store, Selection(Metric.CPU_NS, run_id="z-older", case_ids=(RSA,))))
        == [(ONE, 100)] * 3 + [(TWO, 110)] * 3
    )


def test_two_kits_of_one_version_from_different_sources_are_two_subjects(store: Store) -> None:
    run = started(store, a_run(spec=SPEC.replace("[1.0, 1.1]", "[1.0+seed=1, 1.0+seed=2]")))
    for number in range(3):
        store.add_invocation(run, an_invocation(run, number, cpu_ns={"fake@1.0+seed=1": 10, "fake@1.0+seed=2": 20}))
    assert medians(store) == [("fake@1.0+seed=1", 10)] * 3 + [("fake@1.0+seed=2", 20)] * 3


def test_a_newer_run_of_one_source_does_not_hide_another_source_of_the_same_version(store: Store) -> None:
    for day, source in enumerate(("1.0+seed=1", "1.0+seed=2")):
        spec = SPEC.replace("[1.0, 1.1]", f"[{source}]")
        run = started(store, a_run(source, spec=spec, created_at=NOON + timedelta(days=day)))
        store.add_invocation(run, an_invocation(run, cpu_ns={f"fake@{source}": day + 1}))
    assert medians(store) == [("fake@1.0+seed=1", 1), ("fake@1.0+seed=2", 2)]


def test_versions_stand_in_the_order_of_versions(store: Store) -> None:
    run = started(store, a_run(spec=SPEC.replace("[1.0, 1.1]", "[3.10, 3.9, 3.9.1, 10.0]")))
    store.add_invocation(run, an_invocation(run, cpu_ns=dict.fromkeys(run.kits, 1)))
    in_order = ["3.9", "3.9.1", "3.10", "10.0"]
    assert [row.version for row in store.subjects()] == in_order
    assert [row.subject.version for row in store.samples(CPU)] == in_order
    assert [row["version"] for row in exported_rows(store, CPU)] == in_order


def test_a_selection_narrows_every_dimension(store: Store) -> None:
    other_host = HOST.model_copy(update={"cpu_model": "Other CPU"})
    openssl = {"openssl@system": a_kit("openssl@system", version="3.0.2")}
    spec = SPEC.replace("  - fake: [1.0, 1.1]", "  - fake: 1.0\n  - openssl: system")
    here = started(store, a_run("here", spec=spec, kits=openssl))
    there = started(store, a_run("there", spec=spec, kits=openssl, host=other_host, created_at=NOON - timedelta(1)))
    for run, value in ((here, 1), (there, 2)):
        for case_id in (RSA, ECDSA):
            store.add_invocation(run, an_invocation(run, case_id=case_id, cpu_ns={ONE: value, "openssl@system": value}))

    def count(**narrowed: Any) -> int:
        selection = Selection(Metric.CPU_NS, **narrowed)
        return len(store.samples(selection)) + len(exported_rows(store, selection))

    assert count(run_id="there") == 4 + 4
    assert count(cpu_model="Other CPU") == 4 + 4
    assert count(cpu_model="Other CPU", case_ids=(RSA,)) == 2 + 2
    assert count(cpu_model="Other CPU", case_ids=(RSA,), libraries=("openssl",)) == 1 + 1
    assert count(cpu_model="Other CPU", libraries=("openssl", "fake")) == 4 + 4
    assert count(pool="elsewhere") == 0
    assert [kind.cpu_model for kind in store.host_kinds()] == [HOST.cpu_model, "Other CPU"]


def test_many_ended_runs_are_counted_like_one_and_anew_when_more_of_one_arrives(store: Store) -> None:
    runs = [a_run(f"run-{number}") for number in range(MANY_RUNS)]
    for number, run in enumerate(runs):
        store.add_run(run)
        for invocation in range(number % 3):
            store.add_invocation(run, an_invocation(run, invocation))
        store.add_event(an_event(run, RunState.FINISHED))
    run_ids = [run.run_id for run in runs]

    def counted() -> list[int]:
        progress = store.progress(run_ids)
        assert progress == {run_id: store.progress([run_id])[run_id] for run_id in run_ids}
        return [progress[run_id].invocations_stored for run_id in run_ids]

    assert counted() == [number % 3 for number in range(MANY_RUNS)]
    store.add_invocation(runs[0], an_invocation(runs[0]))
    assert counted() == [1, *(number % 3 for number in range(1, MANY_RUNS))]


def test_a_host_on_which_nothing_is_supported_is_known_all_the_same(store: Store) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, outcomes=[an_outcome(ONE), an_outcome(TWO)]))
    assert [kind.cpu_model for kind in store.host_kinds()] == [HOST.cpu_model]


@pytest.mark.thorough
def test_no_text_of_a_user_is_more_than_a_value(store: Store) -> None:
    run = started(store)
    store.add_invocation(run, an_invocation(run, cpu_ns={ONE: 1}))
    for text in filter(None, HOSTILE):
        assert store.samples(replace(CPU, pool=text)) == [], text
        assert store.samples(replace(CPU, cpu_model=text)) == [], text
        assert store.samples(replace(CPU, case_ids=(text,))) == [], text
        assert store.samples(replace(CPU, run_id=text)) == [], text
        assert store.run(text) is None
    assert store.samples(Selection(Metric.CPU_NS, libraries=tuple(HOSTILE))) == []
    assert len(store.samples(Selection(Metric.CPU_NS, libraries=(*HOSTILE, "fake")))) == 1
    assert store.progress(HOSTILE) == {}


def test_any_text_is_stored_as_it_is(store: Store) -> None:
    run = started(store)
    outcomes = [an_outcome(ONE, reason=text) for text in HOSTILE]
    for number, outcome in enumerate(outcomes[:6]):
        store.add_invocation(
            run,
            an_invocation(run, number, outcomes=[outcome.model_copy(update={"kind": list(OutcomeKind)[number % 5]})]),
        )
    found = {row.reason for row in store.outcomes(CPU)}
    assert found <= set(HOSTILE)
    assert {"\\", "\\'", "\t", "\n"} <= found


def test_outcomes_are_counted_and_the_most_frequent_comes_first(store: Store) -> None:
    run = started(store)
    for number, kind in enumerate([OutcomeKind.CRASHED, OutcomeKind.HUNG, OutcomeKind.HUNG]):
        store.add_invocation(run, an_invocation(run, number, outcomes=[an_outcome(ONE, kind)]))
    assert [(row.kind, row.invocations) for row in store.outcomes(CPU)] == [
        (OutcomeKind.HUNG, 2),
        (OutcomeKind.CRASHED, 1),
    ]


def test_outcomes_of_an_older_run_are_forgotten(store: Store) -> None:
    for run_id, kind, day in (("a", OutcomeKind.CRASHED, 1), ("b", OutcomeKind.HUNG, 0)):
        run = started(store, a_run(run_id, created_at=NOON + timedelta(days=day)))
        store.add_invocation(run, an_invocation(run, outcomes=[an_outcome(ONE, kind)]))
    assert [(row.run_id, row.kind) for row in store.outcomes(CPU)] == [("a", OutcomeKind.CRASHED)]


def test_the_event_that_came_last_is_the_state_whatever_its_time(store: Store) -> None:
    run = a_run()
    store.add_run(run)
    for state, seconds in ((RunState.RUNNING, 5.0), (RunState.FAILED, 1.0), (RunState.FINISHED, 3.0)):
        store.add_event(an_event(run, state, seconds=seconds, detail=str(state)))
    event = store.progress([run.run_id])[run.run_id].event
    assert (event.state, event.detail, event.at) == (RunState.FINISHED, "finished", NOON + timedelta(seconds=3))


@pytest.mark.parametrize("earlier", [state for state in RunState if state.is_open])
@pytest.mark.parametrize("end", [RunState.FINISHED, RunState.CANCELLED, RunState.FAILED])
def test_a_run_that_ended_within_the_millisecond_it_began_has_ended(
    store: Store, end: RunState, earlier: RunState
) -> None:
    run = a_run()
    for state in (earlier, end):
        store.add_event(an_event(run, state))
    assert store.progress([run.run_id])[run.run_id].event.state is end


def test_runs_are_listed_newest_first_and_page_by_page_without_gaps(store: Store) -> None:
    runs = [a_run(f"run-{number}", created_at=NOON + timedelta(seconds=number // 3)) for number in range(12)]
    for run in runs:
        store.add_run(run)
    seen: list[str] = []
    page = newest_runs(store, 2)
    while page:
        assert len(page) >= 2
        seen += [run.run_id for run in page]
        page = newest_runs(store, 2, page[-1].created_at)
    assert seen == [run.run_id for run in sorted(runs, key=lambda run: (run.created_at, run.run_id), reverse=True)]


def test_runs_before_the_beginning_of_time_are_none(store: Store) -> None:
    store.add_run(a_run())
    assert newest_runs(store, 5, NOON.replace(year=1)) == []
    assert len(newest_runs(store, 5, NOON.replace(year=9999))) == 1


def test_threads_may_read_and_write_at_once(store: Store) -> None:
    run = started(store, a_run(spec=SPEC.replace("invocations: 6", "invocations: 12")))

    def add(number: int) -> int:
        store.add_invocation(run, an_invocation(run, number, cpu_ns={ONE: number + 1}))
        return len(store.samples(CPU))

    with ThreadPoolExecutor(6) as pool:
        seen = list(pool.map(add, range(12)))
    assert all(number >= 1 for number in seen)
    assert sorted(value for _, value in medians(store)) == list(range(1, 13))


def test_a_closed_store_opens_again_with_everything_in_it(store: ClickHouseStore) -> None:
    run = started(store)
    store.close()
    assert store.run(run.run_id) == run


def test_batches_without_a_value_are_stored_as_such_and_count_in_no_summary(store: Store) -> None:
    run = started(store)
    sample = Sample(subject=ONE, metric=Metric.SERVER_CPU_NS, values=(10.0, math.nan, 30.0, 20.0))
    invocation = an_invocation(run, cpu_ns={ONE: [40.0, 90.0, 60.0, 50.0]})
    others = tuple(each for each in invocation.samples if each.metric is not sample.metric)
    store.add_invocation(run, invocation.model_copy(update={"samples": (*others, sample)}))
    (row,) = store.samples(Selection(Metric.SERVER_CPU_NS, run_id=run.run_id))
    assert row.level == 20
    assert [None if math.isnan(value) else value for value in values_of(row.values)] == [10, None, 30, 20]
    (exported,) = exported_rows(store, Selection(Metric.SERVER_CPU_NS, run_id=run.run_id))
    assert exported["n"] == 3


def test_of_each_cell_and_side_the_newest_profile_counts_also_of_a_run_that_is_aside(store: Store) -> None:
    earlier = started(store)
    later = started(store, a_run("later", created_at=NOON + timedelta(hours=1)))
    pair = (a_profile("client", hash=10.0), a_profile("server", hash=20.0))
    newer = (a_profile("client", hash=11.0),)
    again = (a_profile("client", hash=10.5),)
    store.add_invocation(earlier, an_invocation(earlier, profiles={ONE: pair, TWO: pair}))
    for _ in range(2):
        store.add_invocation(later, an_invocation(later, 1, profiles={ONE: newer}))
    store.add_invocation(later, an_invocation(later, 0, profiles={ONE: again}))
    one, two = (f"fake@{version}~{version}~{a_kit(f'fake@{version}').build_profile.id}" for version in ("1.0", "1.1"))
    rows = store.profiles([one, two], Instrument.INSTRUCTIONS)
    found = {(row.subject.name, row.profile.side): (row.run_id, row.profile) for row in rows}
    assert len(rows) == len(found) == 4
    assert found[one, "client"] == ("later", newer[0])
    assert found[one, "server"] == (earlier.run_id, pair[1])
    assert {row.case.case_id for row in rows} == {RSA}
    assert [row.spread for row in rows] == pytest.approx(
        [11 / 10.5 - 1 if row.run_id == "later" else 0 for row in rows]
    )
    assert {row.profile.side for row in store.profiles([two], Instrument.INSTRUCTIONS, case_id=RSA)} == {
        "client",
        "server",
    }
    assert (
        store.profiles([two], Instrument.INSTRUCTIONS, case_id=ECDSA)
        == store.profiles([two], Instrument.INSTRUCTIONS, run_id="later")
        == store.profiles([], Instrument.INSTRUCTIONS)
        == []
    )
    assert [row.run_id for row in store.profiles([one], Instrument.INSTRUCTIONS, run_id="later")] == ["later"]
