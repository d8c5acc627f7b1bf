"""Many runs are cancelled by one request: which ones, who may, and what is stored."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, sign_role_token
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState
from kexbench.planning.plan import make_plan
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.rows import run_row
from tests.api.cluster import ClusterApi, cluster_api
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_kept_answers import Statements, spied
from tests.builders import NOON, a_catalogue, a_run
from tests.stores import raw

Outcomes = list[tuple[str, str, str | None]]
"""The id, outcome and state of each run of an answer."""


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


@pytest.fixture
def statements(empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> Statements:
    return spied(empty_store, monkeypatch)


@pytest.fixture
def inserts(empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The table and the number of rows of each insert."""
    noted: list[tuple[str, int]] = []
    insert: Callable[[str, list[Any]], None] = empty_store._insert

    def noting(table: str, content: list[Any]) -> None:
        noted.append((table, len(content)))
        insert(table, content)

    monkeypatch.setattr(empty_store, "_insert", noting)
    return noted


def announced(store: ClickHouseStore, run_id: str, state: RunState, reason: RunReason | None = None) -> Run:
    """A run that was queued and came to a state."""
    run = a_run(run_id).announced()
    for place, each in enumerate([RunState.QUEUED, *([] if state is RunState.QUEUED else [state])]):
        at = datetime(2026, 1, 1, 12, 0, place, tzinfo=UTC)
        store.add_event(RunEvent(run_id=run_id, at=at, state=each, reason=reason))
    store.add_run(run)
    return run


def cancel(api: ClusterApi, wanted: Mapping[str, object], who: str = "submitter") -> httpx2.Response:
    return api.ask(who, "POST", "/runs/cancel", dict(wanted))


def outcomes(answer: httpx2.Response) -> Outcomes:
    assert answer.status_code == 202, answer.text
    return [(run["run_id"], run["outcome"], run["state"]) for run in answer.json()["runs"]]


def states(api: ClusterApi, run_id: str) -> list[RunState]:
    return [event.state for event in api.store.events(run_id)]


def test_named_runs_are_cancelled_and_each_other_one_is_named_with_why_not(api: ClusterApi) -> None:
    for state in (RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING, RunState.FINISHED, RunState.CANCELLED):
        announced(api.store, state, state)
    announced(api.store, "by-command", RunState.RUNNING, RunReason.BY_COMMAND)
    announced(api.store, "left-alone", RunState.RUNNING)
    asked = ["running", "queued", "cancelling", "finished", "nobody", "cancelled", "by-command", "queued"]
    answer = cancel(api, {"run_ids": asked})
    assert outcomes(answer) == [
        ("running", "accepted", "cancelling"),
        ("queued", "accepted", "cancelling"),
        ("cancelling", "unchanged", "cancelling"),
        ("finished", "unchanged", "finished"),
        ("nobody", "unknown", None),
        ("cancelled", "unchanged", "cancelled"),
        ("by-command", "refused", "running"),
    ]
    details = {run["run_id"]: (run["detail"], run["remedy"]) for run in answer.json()["runs"]}
    assert details["running"] == ("cancelled by ci:pipeline", None)
    assert details["finished"] == ("run finished is finished: there is nothing to cancel", None)
    assert details["nobody"] == ("there is no run nobody", "kexbench runs list lists the runs")
    assert details["by-command"][1] == "press Ctrl-C there"
    assert states(api, "queued") == [RunState.QUEUED, RunState.CANCELLING]
    assert states(api, "running") == [RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING]
    for run_id, expected in (("cancelling", "cancelling"), ("finished", "finished"), ("left-alone", "running")):
        assert states(api, run_id) == [RunState.QUEUED, RunState(expected)]
    assert api.store.events("nobody") == []


def test_all_queued_runs_of_a_cluster_are_cancelled_also_those_that_wait_with_built_kits(api: ClusterApi) -> None:
    announced(api.store, "waits", RunState.QUEUED)
    announced(api.store, "waits-built", RunState.BUILDING, RunReason.WAITS_FOR_RUN)
    for state in (RunState.RUNNING, RunState.CANCELLING, RunState.FAILED):
        announced(api.store, state, state)
    assert sorted(outcomes(cancel(api, {"queued": True}))) == [
        ("waits", "accepted", "cancelling"),
        ("waits-built", "accepted", "cancelling"),
    ]
    for state in (RunState.RUNNING, RunState.CANCELLING, RunState.FAILED):
        assert states(api, state) == [RunState.QUEUED, state]
    assert outcomes(cancel(api, {"queued": True})) == []
    assert states(api, "waits") == [RunState.QUEUED, RunState.CANCELLING]


def test_on_one_machine_queued_runs_are_cancelled_at_once_and_the_one_that_builds_is_left_alone(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    supplies = LocalSupplies(lambda text, file, *_, **__: make_plan(text, file, a_catalogue()))
    header = {"Authorization": f"Bearer {sign_role_token('alice', 'submitter', SECRET, now=datetime.now(UTC))}"}
    announced(empty_store, "waits", RunState.QUEUED)
    announced(empty_store, "builds", RunState.BUILDING)
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, supplies)) as client:
        answer = client.post(f"{API_PREFIX}/runs/cancel", json={"queued": True}, headers=header)
    assert outcomes(answer) == [("waits", "accepted", "cancelled")]
    assert [event.state for event in empty_store.events("builds")] == [RunState.QUEUED, RunState.BUILDING]
    assert empty_store.events("waits")[-1].detail == "cancelled by alice"


@pytest.mark.parametrize("by", ["run_ids", "queued"])
def test_five_hundred_runs_take_as_many_statements_as_two_and_one_insert(
    api: ClusterApi, statements: Statements, inserts: list[tuple[str, int]], by: str
) -> None:
    def cancelled(number: int) -> int:
        runs = [f"run-{number}-{each}" for each in range(number)]
        api.store.add_events([RunEvent(run_id=run_id, at=NOON, state=RunState.QUEUED) for run_id in runs])
        raw(api.store).insert("runs", [run_row(a_run(run_id).announced()) for run_id in runs])
        wanted: dict[str, object] = {"run_ids": runs} if by == "run_ids" else {"queued": True}
        inserts.clear()
        said = statements.during(lambda: cancel(api, wanted))
        assert inserts == [("run_events", number), ("audit", 1)]
        assert {run_id: states(api, run_id) for run_id in (runs[0], runs[-1])} == {
            run_id: [RunState.QUEUED, RunState.CANCELLING] for run_id in (runs[0], runs[-1])
        }
        return len(said)

    assert cancelled(2) == cancelled(500) <= 4


def test_who_may_not_request_runs_cancels_none(api: ClusterApi) -> None:
    run = api.queued()
    for who in ("dispatcher", f"pod {run.run_id} {run.plan.jobs[0].job_id} uid", "schedule nightly"):
        assert_problem(cancel(api, {"run_ids": [run.run_id]}, who), 403, "may not do this")
    assert_problem(cancel(api, {"queued": True}, "stranger"), 401)
    assert states(api, run.run_id) == [RunState.QUEUED]


@pytest.mark.parametrize(
    "wanted", [{}, {"run_ids": []}, {"run_ids": ["a"], "queued": True}, {"run_ids": "a"}, {"state": "queued"}]
)
def test_a_request_that_does_not_say_which_runs_cancels_none(api: ClusterApi, wanted: dict[str, object]) -> None:
    run = api.queued()
    assert_problem(cancel(api, wanted), 422)
    assert states(api, run.run_id) == [RunState.QUEUED]
