"""What the executor does about the queue, as far as it takes no process: that is tests/cli/test_queue.py."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from kexbench import executor
from kexbench.client import Refused
from kexbench.domain.bisections import BisectionEventKind
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunReason, RunState, Trigger
from kexbench.domain.schedules import Schedule
from kexbench.execution.folder import RunFolder
from kexbench.execution.measuring import MeasuringProcess
from kexbench.executor import Executor
from kexbench.planning.queue import QueuedRun
from kexbench.queue.runs import as_queued, queue_run, record
from kexbench.queue.troubles import Troubles
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import OpenRunRow, StoreError, StoreFull
from kexbench.wiring import Installation
from tests.builders import (
    CATALOGUE,
    HOST,
    NOON,
    SPEC,
    a_bisection,
    a_bisection_event,
    a_plan,
    a_run,
    all_invocations,
    an_event,
    newest_runs,
)
from tests.kits.repositories import a_repository
from tests.stores import raw

PATIENCE_S = 120.0
"""A test that works never waits as long."""
NIGHTLY = SPEC.replace("name: example", "name: nightly")


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def troubles() -> Troubles:
    return Troubles()


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    catalogue = tmp_path / "libraries.yaml"
    catalogue.write_text(CATALOGUE)
    settings: dict[str, Any] = {"home": tmp_path, "cache": tmp_path, "catalogue": catalogue}
    return Installation(Settings(**settings))


@pytest.fixture
def one(
    empty_store: ClickHouseStore,
    installation: Installation,
    said: list[str],
    troubles: Troubles,
    monkeypatch: pytest.MonkeyPatch,
) -> Executor:
    """Whose machine can start no process: every run whose turn it is fails."""

    def no_process(*_: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(executor, "MeasuringProcess", no_process)
    return Executor(installation, empty_store, said.append, lambda: NOON + timedelta(days=1), troubles)


def queued(store: ClickHouseStore, run_id: str, *states: RunState, plan: Plan | None = None) -> None:
    queue_run(store, run_id, Trigger.API, SPEC, plan or a_plan())
    for state in states:
        record(store, run_id, state, "")


def newest(store: ClickHouseStore, run_id: str) -> tuple[RunState, str]:
    event = store.events(run_id)[-1]
    return event.state, event.detail


def a_schedule(name: str, spec: str) -> Schedule:
    return Schedule(name=name, cron="0 3 * * *", spec_text=spec, changed_at=NOON, changed_by="alice")


def test_a_run_whose_process_cannot_be_started_has_failed_and_the_next_one_has_its_turn(
    one: Executor, empty_store: ClickHouseStore, said: list[str]
) -> None:
    for run_id in ("first", "second"):
        queued(empty_store, run_id)
        one.once()
        assert newest(empty_store, run_id) == (
            RunState.FAILED,
            "the measuring process cannot be started: OSError: no memory",
        )
    assert said == ["measuring run first of example", "measuring run second of example"]


@pytest.mark.parametrize(
    ("broken", "part"),
    [("_queue_scheduled", "schedules"), ("_advance_bisections", "bisections"), ("_requeue", "interrupted runs")],
)
def test_what_is_wrong_with_one_part_is_reported_and_holds_up_no_run(
    one: Executor,
    troubles: Troubles,
    empty_store: ClickHouseStore,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
    part: str,
) -> None:
    def breaks() -> None:
        raise KeyError("nothing of the kind")

    monkeypatch.setattr(one, broken, breaks)
    queued(empty_store, "first")
    one.once()
    assert [(trouble.part, trouble.reason) for trouble in troubles.now()] == [(part, "KeyError: 'nothing of the kind'")]
    assert newest(empty_store, "first")[0] is RunState.FAILED


def test_a_run_that_cannot_be_begun_fails_whatever_stands_in_the_way(
    one: Executor, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody_listens(_: str) -> None:
        raise BrokenPipeError("standard error is closed")

    queued(empty_store, "first")
    monkeypatch.setattr(one, "_say", nobody_listens)
    one.once()
    assert newest(empty_store, "first")[0] is RunState.FAILED


@contextmanager
def working(one: Executor) -> Iterator[None]:
    """It works in another thread, as in a service."""
    with ThreadPoolExecutor(1) as threads:
        work = threads.submit(one.work)
        try:
            yield
        finally:
            one.end()
        work.result()


class EndedProcess:
    """A process that has measured a run, whatever it left."""

    status, was_asked_to_end, log = 0, False, Path("measuring.log")

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id


def test_a_run_whose_results_cannot_be_read_fails_with_the_reason_and_the_queue_goes_on(
    one: Executor, troubles: Troubles, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run_id in ("broken", "next"):
        queued(empty_store, run_id)
    record(empty_store, "broken", RunState.RUNNING, "")

    def unreadable(*_: object) -> None:
        raise ValueError("line 3 is no invocation")

    monkeypatch.setattr(one, "_requeue", lambda: None)
    monkeypatch.setattr(one, "_settle", unreadable)
    one._process = cast(MeasuringProcess, EndedProcess("broken"))
    one.once()
    assert newest(empty_store, "broken") == (
        RunState.FAILED,
        "its results cannot be stored: ValueError: line 3 is no invocation",
    )
    assert newest(empty_store, "next")[0] is RunState.FAILED, "it had its turn; this machine starts no process"
    assert [trouble.part for trouble in troubles.now()] == ["measuring"]
    one.once()
    assert troubles.now() == []


@pytest.mark.parametrize(
    ("lacking", "state"), [(1, RunState.FAILED), (0, RunState.FINISHED)], ids=["incomplete", "complete"]
)
def test_a_run_whose_process_was_killed_after_its_last_result_is_finished(
    one: Executor, empty_store: ClickHouseStore, lacking: int, state: RunState
) -> None:
    run = a_run("killed")
    queued(empty_store, run.run_id, RunState.RUNNING, plan=run.plan)
    empty_store.add_run(run)
    for measured in all_invocations(run)[lacking:]:
        empty_store.add_invocation(run, measured, HOST)
    process = EndedProcess(run.run_id)
    process.status = -9
    one._process = cast(MeasuringProcess, process)
    one.once()
    assert newest(empty_store, run.run_id)[0] is state


def test_an_unreadable_run_fails_with_its_process_and_the_queue_goes_on(
    one: Executor, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run_id in ("unreadable", "next"):
        queued(empty_store, run_id)
    record(empty_store, "unreadable", RunState.RUNNING, "")
    (row,) = raw(empty_store).query("SELECT * FROM runs FINAL WHERE run_id = 'unreadable'")
    raw(empty_store).insert("runs", [row | {"run": row["run"].replace('"spec_text"', '"text"')}])
    with pytest.raises(StoreError, match="cannot be read"):
        empty_store.run("unreadable")
    process = EndedProcess("unreadable")
    process.status = 1
    one._process = cast(MeasuringProcess, process)
    monkeypatch.setattr(one, "_requeue", lambda: None)
    one.once()
    assert newest(empty_store, "unreadable") == (
        RunState.FAILED,
        "the measuring process ended with status 1: see measuring.log",
    )
    assert newest(empty_store, "next")[0] is RunState.FAILED, "it had its turn; this machine starts no process"


def test_the_queue_starts_the_next_run_while_a_verdict_is_still_computed(
    one: Executor, troubles: Troubles, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run ends only once it is certain that a verdict is being computed, which goes on until the second run
    has started."""
    judging, second_started = Event(), Event()
    started: list[str] = []

    class Process(EndedProcess):
        def __init__(self, folder: RunFolder, *_: object) -> None:
            super().__init__(folder.path.name)
            record(empty_store, self.run_id, RunState.FINISHED, "")
            started.append(self.run_id)
            if self.run_id == "second":
                second_started.set()

    def judge() -> None:
        judging.set()
        assert second_started.wait(PATIENCE_S)

    monkeypatch.setattr(executor, "MeasuringProcess", Process)
    monkeypatch.setattr(one._analyst, "advance", judge)
    queued(empty_store, "first")
    with working(one):
        assert judging.wait(PATIENCE_S)
        queued(empty_store, "second")
        assert second_started.wait(PATIENCE_S)
    assert started == ["first", "second"]
    assert troubles.now() == []


def test_a_verdict_that_fails_is_reported_and_the_next_request_computes_it(
    one: Executor, troubles: Troubles, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[list[str]] = []
    failed, judged = Event(), Event()

    def judge() -> None:
        parts.append([trouble.part for trouble in troubles.now()])
        if len(parts) == 1:
            failed.set()
            raise StoreError("the store does not answer")
        judged.set()

    monkeypatch.setattr(one._analyst, "advance", judge)
    with working(one):
        assert failed.wait(PATIENCE_S)
        queued(empty_store, "first")
        assert judged.wait(PATIENCE_S)
    assert parts[:2] == [[], ["alerts"]]
    assert troubles.now() == []


def test_a_run_that_ended_without_a_verdict_is_judged_at_the_next_start(
    one: Executor, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(spec=f"{SPEC}alerts: {{}}\n")
    empty_store.add_run(run)
    empty_store.add_event(an_event(run, RunState.FINISHED))
    judged = Event()
    monkeypatch.setattr(one._analyst, "_say", lambda _: judged.set())
    assert [row.run_id for row in empty_store.unjudged_runs()] == [run.run_id]
    with working(one):
        assert judged.wait(PATIENCE_S)
    assert empty_store.screening(run.run_id)
    assert empty_store.unjudged_runs() == []


def test_runs_of_an_earlier_service_that_cannot_be_seen_to_hold_up_no_process_that_ended(
    one: Executor, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks() -> None:
        raise KeyError("nothing of the kind")

    queued(empty_store, "first", RunState.RUNNING, RunState.FINISHED)
    monkeypatch.setattr(one, "_requeue", breaks)
    one._process = cast(MeasuringProcess, EndedProcess("first"))
    one.once()
    assert one._process is None


def test_while_the_store_does_not_answer_what_a_process_left_is_kept(
    one: Executor, troubles: Troubles, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreError("the server does not answer")

    monkeypatch.setattr(one, "_settle", away)
    process = cast(MeasuringProcess, EndedProcess("any"))
    one._process = process
    one.once()
    assert one._process is process
    assert [trouble.reason for trouble in troubles.now()] == ["the server does not answer"]


def test_results_that_the_store_has_no_room_for_are_delivered_when_it_has(
    one: Executor, troubles: Troubles, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API says that there is no room, and the store could still take the small event of the run's end."""
    run = a_run("full")
    queued(empty_store, run.run_id, RunState.RUNNING, plan=run.plan)
    folder = one._installation.run_folder(run.run_id)
    folder.create(run)
    is_full = True

    def deliver(*_: object) -> None:
        if is_full:
            error = StoreFull(0, 1 << 20, "free some space")
            troubles.set_full("uploads", error)
            raise Refused(503, str(error), error.remedy)
        empty_store.add_run(run)
        empty_store.add_invocations(run, all_invocations(run))
        troubles.has_room()

    monkeypatch.setattr(executor, "deliver_run", deliver)
    monkeypatch.setattr(one, "_requeue", lambda: None)
    one._process = process = cast(MeasuringProcess, EndedProcess(run.run_id))
    for _ in range(2):
        one.once()
        assert one._process is process
        assert newest(empty_store, run.run_id)[0] is RunState.RUNNING
        assert not folder.is_delivered()
        assert [(each.part, each.reason) for each in troubles.now()] == [
            ("room", "the store has no room: 0 bytes free, 1.0 MiB needed; free some space")
        ]
    is_full = False
    one.once()
    assert one._process is None
    assert newest(empty_store, run.run_id)[0] is RunState.FINISHED
    assert folder.is_delivered()
    assert troubles.now() == []


def test_a_run_that_a_newer_one_of_its_line_supersedes_is_never_begun(
    one: Executor, empty_store: ClickHouseStore, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_one_line(row: OpenRunRow) -> QueuedRun:
        return replace(as_queued(row), line="main")

    monkeypatch.setattr(executor, "as_queued", of_one_line)
    for run_id in ("old", "new"):
        queued(empty_store, run_id)
    one.once()
    assert newest(empty_store, "old") == (RunState.CANCELLED, "superseded by run new")
    assert said == ["measuring run new of example"]


def test_what_an_earlier_service_had_begun_waits_again_and_what_was_cancelled_is(
    one: Executor, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for state in (RunState.QUEUED, RunState.BUILDING, RunState.RUNNING, RunState.CANCELLING, RunState.FINISHED):
        queued(empty_store, state, *([] if state is RunState.QUEUED else [state]))
    monkeypatch.setattr(executor, "next_run", lambda *_: None)  # which would go on with one of them
    one.once()
    found = {state: newest(empty_store, state)[0] for state in RunState if empty_store.events(state)}
    assert found == {
        RunState.QUEUED: RunState.QUEUED,
        RunState.BUILDING: RunState.QUEUED,
        RunState.RUNNING: RunState.QUEUED,
        RunState.CANCELLING: RunState.CANCELLED,
        RunState.FINISHED: RunState.FINISHED,
    }


def test_what_a_command_or_a_cluster_measures_is_none_of_its_business(
    one: Executor, installation: Installation, empty_store: ClickHouseStore, said: list[str]
) -> None:
    queued(empty_store, "by-hand")
    record(empty_store, "by-hand", RunState.BUILDING, "", RunReason.BY_COMMAND)
    queued(empty_store, "elsewhere", plan=a_plan().model_copy(update={"pools": ("pool-a",)}))
    folder = installation.run_folder("by-hand")
    folder.path.mkdir(parents=True)
    with folder.locked():
        one.once()
        assert newest(empty_store, "by-hand")[0] is RunState.BUILDING
    assert newest(empty_store, "elsewhere")[0] is RunState.QUEUED
    assert said == []


def test_a_run_of_a_command_that_was_killed_is_taken_up_while_the_service_runs(
    one: Executor, empty_store: ClickHouseStore, said: list[str]
) -> None:
    one.once()
    queued(empty_store, "killed")
    record(empty_store, "killed", RunState.BUILDING, "", RunReason.BY_COMMAND)
    one.once()
    assert [event.detail for event in empty_store.events("killed")][2] == executor.GOES_ON
    assert said == ["measuring run killed of example"]


def test_the_time_of_a_schedule_begins_one_run(one: Executor, empty_store: ClickHouseStore) -> None:
    empty_store.add_schedule(a_schedule("nightly", NIGHTLY))
    for _ in range(2):
        one.once()
    (run,) = newest_runs(empty_store, 10)
    assert (run.trigger, run.plan.spec_name) == (Trigger.SCHEDULE, "nightly")
    assert empty_store.events(run.run_id)[0].detail == "schedule nightly, 2026-01-02T03:00:00Z"


def test_a_schedule_that_cannot_be_planned_is_reported_once_a_time_and_holds_up_no_other(
    one: Executor, empty_store: ClickHouseStore, said: list[str]
) -> None:
    empty_store.add_schedule(a_schedule("gone", NIGHTLY.replace("matrix:", "pools: [pool-z]\nmatrix:")))
    empty_store.add_schedule(a_schedule("nightly", NIGHTLY))
    for _ in range(2):
        one.once()
    assert [run.plan.spec_name for run in newest_runs(empty_store, 10)] == ["nightly"]
    (line,) = (line for line in said if line.startswith("schedule gone"))
    assert "there is no pool 'pool-z'" in line


def test_commits_of_a_bisection_are_found_between_runs_and_its_first_run_has_its_turn(
    one: Executor, empty_store: ClickHouseStore, said: list[str], tmp_path: Path
) -> None:
    repository = a_repository(tmp_path / "source")
    good, bad = (repository.commit(patch) for patch in range(2))
    bisection = a_bisection().model_copy(update={"address": str(repository.folder), "good": good, "bad": "master"})
    empty_store.add_bisection_event(a_bisection_event())
    empty_store.add_bisection(bisection)
    one.once()
    line = empty_store.line(bisection.bisection_id)
    assert line is not None
    assert [commit.hash for commit in line.commits] == [good, bad]
    assert newest(empty_store, bisection.run_id(0))[0] is RunState.FAILED
    assert f"measuring run {bisection.run_id(0)} of bisect-fake-bbbbbbbb" in said
    one.once()
    assert [run.run_id for run in newest_runs(empty_store, 5)] == [bisection.run_id(0)], (
        "it waits for somebody to resume it"
    )


def test_a_repository_that_is_not_there_is_reported_and_holds_up_no_run(
    one: Executor, empty_store: ClickHouseStore, said: list[str], tmp_path: Path
) -> None:
    empty_store.add_bisection_event(a_bisection_event())
    empty_store.add_bisection(a_bisection().model_copy(update={"address": str(tmp_path / "nowhere")}))
    queued(empty_store, "another")
    one.once()
    event = empty_store.bisection_events("b" * 20)[-1]
    assert (event.kind, "there is no repository" in event.detail) == (BisectionEventKind.WAITS, True)
    assert "measuring run another of example" in said


@pytest.mark.parametrize(
    ("wall_s", "reading_s", "note"),
    [
        (60.0, 55.0, "readers of this service had 0.9 requests open at a time"),
        (60.0, 20.0, ""),
        (1.0, 1.5, ""),
        (4.0, 100.0, "had 25.0 requests open"),
    ],
)
def test_a_run_that_many_readers_may_have_disturbed_says_so(
    one: Executor,
    empty_store: ClickHouseStore,
    monkeypatch: pytest.MonkeyPatch,
    wall_s: float,
    reading_s: float,
    note: str,
) -> None:
    queued(empty_store, "first", RunState.BUILDING, RunState.RUNNING, RunState.FINISHED)
    monkeypatch.setattr("kexbench.executor.time.monotonic", lambda: 1000.0 + wall_s)
    one._began = (1000.0, 7.0)
    one._reading.spent_s = 7.0 + reading_s
    one._process = cast(MeasuringProcess, EndedProcess("first"))
    one.once()
    state, detail = newest(empty_store, "first")
    assert state is RunState.FINISHED
    assert note in detail
    assert bool(detail) is bool(note)


def test_what_a_disturbed_run_lacks_is_said_as_well(
    one: Executor, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued(empty_store, "first", RunState.RUNNING)
    record(empty_store, "first", RunState.FINISHED, "2 of 3 invocations")
    monkeypatch.setattr("kexbench.executor.time.monotonic", lambda: 1060.0)
    one._began, one._reading.spent_s = (1000.0, 0.0), 600.0
    one._process = cast(MeasuringProcess, EndedProcess("first"))
    one.once()
    _, detail = newest(empty_store, "first")
    assert detail.startswith("2 of 3 invocations; readers of this service")
