"""What the measurer does about the queue, as far as it takes no process: that is tests/cli/test_queue.py."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kexbench import measurer
from kexbench.api.control import queue_run, record
from kexbench.api.queueing import as_queued
from kexbench.domain.bisections import BisectionEventKind
from kexbench.domain.plans import Plan
from kexbench.domain.runs import Run, RunState, Trigger
from kexbench.domain.schedules import Schedule
from kexbench.measurer import Measurer
from kexbench.planning.queue import QueuedRun
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import OpenRunRow
from kexbench.wiring import Installation
from tests.builders import CATALOGUE, NOON, SPEC, a_bisection, a_bisection_event, a_plan, a_run, an_event
from tests.kits.repositories import a_repository

NIGHTLY = SPEC.replace("name: example", "name: nightly")


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def one(empty_store: ClickHouseStore, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> Measurer:
    """Whose machine can start no process: every run whose turn it is fails."""

    def no_process(*_: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(measurer, "MeasuringProcess", no_process)
    catalogue = tmp_path / "libraries.yaml"
    catalogue.write_text(CATALOGUE)
    settings: dict[str, Any] = {"home": tmp_path, "cache": tmp_path, "catalogue": catalogue}
    return Measurer(Installation(Settings(**settings)), empty_store, said.append, lambda: NOON + timedelta(days=1))


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
    one: Measurer, empty_store: ClickHouseStore, said: list[str]
) -> None:
    for run_id in ("first", "second"):
        queued(empty_store, run_id)
        one._once()
        assert newest(empty_store, run_id) == (RunState.FAILED, "no process can be started: no memory")
    assert said == ["measuring run first of example", "measuring run second of example"]


def test_a_run_that_a_newer_one_of_its_line_supersedes_is_never_begun(
    one: Measurer, empty_store: ClickHouseStore, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_one_line(row: OpenRunRow) -> QueuedRun:
        return replace(as_queued(row), line="main")

    monkeypatch.setattr(measurer, "as_queued", of_one_line)
    for run_id in ("old", "new"):
        queued(empty_store, run_id)
    one._once()
    assert newest(empty_store, "old") == (RunState.CANCELLED, "superseded by run new")
    assert said == ["measuring run new of example"]


def test_what_an_earlier_service_had_begun_waits_again_and_what_was_cancelled_is(
    one: Measurer, empty_store: ClickHouseStore
) -> None:
    for state in (RunState.QUEUED, RunState.BUILDING, RunState.RUNNING, RunState.CANCELLING, RunState.FINISHED):
        queued(empty_store, state, *([] if state is RunState.QUEUED else [state]))
    one._take_up()
    found = {state: newest(empty_store, state)[0] for state in RunState if empty_store.events(state)}
    assert found == {
        RunState.QUEUED: RunState.QUEUED,
        RunState.BUILDING: RunState.QUEUED,
        RunState.RUNNING: RunState.QUEUED,
        RunState.CANCELLING: RunState.CANCELLED,
        RunState.FINISHED: RunState.FINISHED,
    }


def test_what_a_command_or_a_cluster_measures_is_none_of_its_business(
    one: Measurer, empty_store: ClickHouseStore, said: list[str]
) -> None:
    by_hand: Run = a_run("by-hand")
    empty_store.add_run(by_hand)
    empty_store.add_event(an_event(by_hand))
    queued(empty_store, "elsewhere", plan=a_plan().model_copy(update={"pools": ("pool-a",)}))
    one._take_up()
    one._once()
    assert newest(empty_store, "by-hand")[0] is RunState.RUNNING
    assert newest(empty_store, "elsewhere")[0] is RunState.QUEUED
    assert said == []


def test_the_time_of_a_schedule_begins_one_run(one: Measurer, empty_store: ClickHouseStore) -> None:
    empty_store.add_schedule(a_schedule("nightly", NIGHTLY))
    for _ in range(2):
        one._once()
    (run,) = empty_store.runs(10)
    assert (run.trigger, run.plan.spec_name) == (Trigger.SCHEDULE, "nightly")
    assert empty_store.events(run.run_id)[0].detail == "schedule nightly, 2026-01-02T03:00:00Z"


def test_a_schedule_that_cannot_be_planned_is_told_once_a_time_and_holds_up_no_other(
    one: Measurer, empty_store: ClickHouseStore, said: list[str]
) -> None:
    empty_store.add_schedule(a_schedule("gone", NIGHTLY.replace("matrix:", "pools: [pool-z]\nmatrix:")))
    empty_store.add_schedule(a_schedule("nightly", NIGHTLY))
    for _ in range(2):
        one._once()
    assert [run.plan.spec_name for run in empty_store.runs(10)] == ["nightly"]
    (told,) = (line for line in said if line.startswith("schedule gone"))
    assert "there is no pool 'pool-z'" in told


def test_commits_of_a_bisection_are_found_between_runs_and_its_first_run_has_its_turn(
    one: Measurer, empty_store: ClickHouseStore, said: list[str], tmp_path: Path
) -> None:
    repository = a_repository(tmp_path / "source")
    good, bad = (repository.commit(patch) for patch in range(2))
    bisection = a_bisection().model_copy(update={"address": str(repository.folder), "good": good, "bad": "master"})
    empty_store.add_bisection_event(a_bisection_event())
    empty_store.add_bisection(bisection)
    one._once()
    line = empty_store.line(bisection.bisection_id)
    assert line is not None
    assert [commit.hash for commit in line.commits] == [good, bad]
    assert newest(empty_store, bisection.run_id(0))[0] is RunState.FAILED
    assert f"measuring run {bisection.run_id(0)} of bisect-fake-bbbbbbbb" in said
    one._once()
    assert [run.run_id for run in empty_store.runs(5)] == [bisection.run_id(0)], "it waits for somebody to resume it"


def test_a_repository_that_is_not_there_is_told_and_holds_up_no_run(
    one: Measurer, empty_store: ClickHouseStore, said: list[str], tmp_path: Path
) -> None:
    empty_store.add_bisection_event(a_bisection_event())
    empty_store.add_bisection(a_bisection().model_copy(update={"address": str(tmp_path / "nowhere")}))
    queued(empty_store, "another")
    one._once()
    event = empty_store.bisection_events("b" * 20)[-1]
    assert (event.kind, "there is no repository" in event.detail) == (BisectionEventKind.WAITS, True)
    assert "measuring run another of example" in said
