"""The queue of a machine that measures by itself: who asks, what a run becomes, and what those that wait show."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import jwt
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, AUDIENCE, sign_role_token
from kexbench.domain.kits import SubjectRef
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState
from kexbench.pipeline import new_run
from kexbench.planning.plan import make_plan
from kexbench.planning.subjects import with_sources
from kexbench.queue.runs import claim
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf, assert_problem, put, token
from tests.builders import HOST, SPEC, a_catalogue, a_run, an_event, an_invocation, newest_runs

NIGHTLY = SPEC.replace("name: example", "name: nightly") + 'schedule: "0 3 * * *"\n'


def asks(name: str = "alice", role: str = "submitter") -> dict[str, str]:
    return {"Authorization": f"Bearer {sign_role_token(name, role, SECRET, now=datetime.now(UTC))}"}


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    supplies = LocalSupplies(lambda text, file, *_, **__: make_plan(text, file, a_catalogue()))
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, supplies)) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        yield client


def queued(client: httpx2.Client, store: ClickHouseStore, spec: str = SPEC) -> Run:
    answer = client.post("/runs", json={"spec_text": spec}, headers=asks())
    assert answer.status_code == 201, answer.text
    found = store.run(answer.json()["run_id"])
    assert found is not None
    return found


def as_started(run: Run, **changes: object) -> Run:
    """As the process that measures it announces it."""
    made = a_run(run.run_id)
    facts = {"kits": made.kits, "host": HOST, "material": made.material}
    return run.model_copy(update={**facts, **changes})


def ask(client: httpx2.Client, run: Run, control: str) -> httpx2.Response:
    return client.post(f"/runs/{run.run_id}/{control}", headers=asks())


def shown(client: httpx2.Client, run: Run) -> Any:
    return client.get(f"/runs/{run.run_id}").json()


def test_a_spec_that_is_asked_for_waits_for_its_turn(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = queued(client, empty_store)
    summary = shown(client, run)["summary"]
    assert (summary["state"], summary["trigger"], summary["pools"]) == ("queued", "api", ["local"])
    assert (run.host, run.is_started) == (None, False)


def test_what_cannot_be_planned_here_is_a_problem_with_its_place(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    elsewhere = SPEC.replace("matrix:", "pools: [pool-a]\nmatrix:")
    answer = client.post("/runs", json={"spec_text": elsewhere}, headers=asks())
    assert_problem(answer, 422, "spec.yaml:6:", "outside a cluster the only pool is local")
    assert newest_runs(empty_store, 10) == []


def test_measuring_turns_a_queued_run_into_a_started_one(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = queued(client, empty_store)
    read = client.get(f"/open-runs/{run.run_id}", headers=token(run.run_id))
    assert Run.model_validate(read.json()) == run
    started = as_started(run)
    for _ in range(2):
        assert put(client, started).status_code == 204
    assert empty_store.run(run.run_id) == started
    assert shown(client, run)["summary"]["cpu_model"] == HOST.cpu_model


def test_whoever_starts_a_run_second_is_refused(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = queued(client, empty_store)
    assert put(client, as_started(run)).status_code == 204
    other = as_started(run, host=HOST.model_copy(update={"kernel": "6.2.0"}))
    assert_problem(put(client, other), 409, "stored with other facts")


@pytest.mark.parametrize(
    "changes",
    [
        {"created_at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"spec_text": "another"},
        {"plan": a_run(spec=SPEC.replace("batches: 4", "batches: 5")).plan},
    ],
)
def test_a_start_changes_nothing_that_was_announced(
    client: httpx2.Client, empty_store: ClickHouseStore, changes: dict[str, object]
) -> None:
    run = queued(client, empty_store)
    assert_problem(put(client, as_started(run, **changes)), 409, "stored with other facts")
    assert empty_store.run(run.run_id) == run


def test_a_run_that_waits_is_cancelled_at_once_and_one_that_was_begun_is_asked_to_end(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    waits, begun = queued(client, empty_store), queued(client, empty_store)
    assert claim(empty_store, begun.run_id)
    assert ask(client, waits, "cancel").json()["state"] == "cancelled"
    assert not claim(empty_store, waits.run_id)
    assert ask(client, begun, "cancel").json()["state"] == "cancelling"
    assert [run["detail"] for run in client.get("/queue").json()["runs"]] == ["cancelled by alice"]


def test_a_started_run_that_ended_early_is_queued_again(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = queued(client, empty_store)
    put(client, as_started(run))
    empty_store.add_event(RunEvent(run_id=run.run_id, at=datetime.now(UTC), state=RunState.FAILED))
    assert shown(client, run)["controls"] == ["resume"]
    assert ask(client, run, "resume").json()["state"] == "queued"
    assert shown(client, run)["controls"] == ["cancel"]


def test_what_a_command_measures_itself_is_left_to_that_command(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_event(an_event(run, reason=RunReason.BY_COMMAND))
    assert shown(client, run)["controls"] == []
    for control in ("cancel", "resume"):
        assert_problem(ask(client, run, control), 409, "is being measured by a command on its machine")
    empty_store.add_event(an_event(run, RunState.FAILED, seconds=2))
    assert shown(client, run)["controls"] == ["resume"]


def test_a_command_queues_its_own_plan_which_may_name_sources_that_a_submitted_spec_may_not(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    text = SPEC.replace("- fake: [1.0, 1.1]", '- openssl: ["prefix:/opt/openssl"]')
    refused = client.post("/runs", json={"spec_text": text}, headers=asks())
    assert_problem(refused, 422, "building runs code from such sources")
    named = with_sources(a_catalogue(), [SubjectRef.parse("openssl@prefix:/opt/openssl")])
    run = new_run(make_plan(text, "spec.yaml", named), text)
    for headers in ({}, asks(), token("another")):
        answer = client.put(f"/runs/{run.run_id}", json=run.model_dump(mode="json"), headers=headers)
        assert answer.status_code in (401, 403), answer.text
    assert newest_runs(empty_store, 10) == []
    for _ in range(2):
        assert put(client, run).status_code == 204
    assert empty_store.run(run.run_id) == run
    assert [event.state for event in empty_store.events(run.run_id)] == [RunState.QUEUED]
    assert [entry["trigger"] for entry in client.get("/queue").json()["runs"]] == ["api"]


def test_the_queue_tells_what_runs_then_what_waits_in_its_order(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    assert client.get("/queue").json() == {"runs": []}
    first, second = queued(client, empty_store), queued(client, empty_store)
    other = queued(client, empty_store, SPEC.replace("name: example", "name: other"))
    claim(empty_store, first.run_id)
    put(client, as_started(first))
    soon = datetime.now(UTC) + timedelta(hours=1)  # so that nothing has elapsed, however slow the test
    empty_store.add_event(RunEvent(run_id=first.run_id, at=soon, state=RunState.RUNNING))
    empty_store.add_invocation(as_started(first), an_invocation(first, cpu_ns={"fake@1.0": 1}))
    found = client.get("/queue").json()["runs"]
    assert [run["run_id"] for run in found] == [first.run_id, other.run_id, second.run_id]
    assert [run["state"] for run in found] == ["running", "queued", "queued"]
    assert [(run["trigger"], run["priority"]) for run in found] == [("api", 3)] * 3
    estimated = first.plan.estimated_s
    left = found[0]["left_s"]
    assert left == pytest.approx(estimated * (1 - 1 / first.plan.invocations), abs=0.1)
    assert [run["left_s"] for run in found[1:]] == [estimated, estimated]
    assert found[0]["wait_s"] is None
    assert [run["wait_s"] for run in found[1:]] == pytest.approx([left, left + estimated], abs=0.1)
    assert [run["spec_begun_at"] is None for run in found] == [False, True, False]


def test_the_queue_expects_what_runs_of_the_spec_took_from_their_start_to_their_end(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    ended, waiting = queued(client, empty_store), queued(client, empty_store)
    for state, seconds in ((RunState.RUNNING, 2), (RunState.FINISHED, 602)):
        empty_store.add_event(an_event(ended, state, seconds=seconds))
    (entry,) = client.get("/queue").json()["runs"]
    assert (entry["run_id"], entry["left_s"]) == (waiting.run_id, 600)
    assert waiting.plan.estimated_s < 100
    dry = client.post("/dry-runs", json={"spec_text": SPEC}, headers=asks()).json()["dry_run"]
    assert (dry["runs_ahead"], dry["minutes_ahead"]) == (1, 10)


def test_schedules_are_added_and_removed_here_too(client: httpx2.Client) -> None:
    added = client.post("/schedules", json={"spec_text": NIGHTLY}, headers=asks())
    assert (added.status_code, added.json()["changed_by"]) == (201, "alice")
    assert client.delete("/schedules/nightly", headers=asks()).status_code == 204
    assert client.get("/schedules").json() == []


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/runs/{run}/start"), ("GET", "/runs/{run}/kits"), ("GET", "/kits/0123456789abcdef")]
)
def test_what_only_a_cluster_has_is_not_there(
    client: httpx2.Client, empty_store: ClickHouseStore, method: str, path: str
) -> None:
    run = queued(client, empty_store)
    assert_problem(
        client.request(method, path.format(run=run.run_id), headers=asks(role="dispatcher")), 409, "no cluster"
    )


def test_a_runs_token_asks_for_nothing_and_who_asks_writes_no_results(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run, other = queued(client, empty_store), queued(client, empty_store)
    assert_problem(client.post("/runs", json={"spec_text": SPEC}, headers=token(run.run_id)), 403, "is a run")
    assert_problem(client.post(f"/runs/{run.run_id}/cancel", headers=token(run.run_id)), 403, "is a run")
    assert_problem(client.get(f"/open-runs/{run.run_id}", headers=token(other.run_id)), 403, "the token is for run")
    body = as_started(run).model_dump(mode="json")
    assert_problem(client.put(f"/runs/{run.run_id}", json=body, headers=asks(run.run_id)), 403, "is a submitter")


def test_a_token_of_another_role_or_secret_or_of_yesterday_is_nobodys(client: httpx2.Client) -> None:
    yesterday = {"sub": "alice", "role": "submitter", "aud": AUDIENCE, "exp": datetime.now(UTC) - timedelta(days=1)}
    foreign = sign_role_token("alice", "submitter", "x" * 64, now=datetime.now(UTC))
    for wrong in (
        asks(role="builder")["Authorization"],
        f"Bearer {foreign}",
        f"Bearer {jwt.encode(yesterday, SECRET, algorithm='HS256')}",
    ):
        assert_problem(client.post("/runs", json={"spec_text": SPEC}, headers={"Authorization": wrong}), 401)


def test_the_service_asks_itself_with_a_token_that_it_signed_and_no_other_does_its_work(
    client: httpx2.Client,
) -> None:
    assert client.get("/rings", headers=asks(role="dispatcher")).status_code == 200
    assert_problem(client.get("/rings", headers=asks()), 403, "alice is a submitter")
    assert_problem(client.post("/runs", json={"spec_text": SPEC}, headers=asks(role="dispatcher")), 403, "dispatcher")
