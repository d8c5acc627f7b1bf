"""Schedules in the API: who may add and remove them, what they are then, and the runs of their times."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from kexbench.api.calling import sign_role_token
from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, ClusterApi, cluster_api
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.builders import newest_runs

NIGHTLY = CLUSTER_SPEC.replace("name: example", "name: nightly") + 'schedule: "0 3 * * *"\n'
TIME, NEXT = "2026-01-01T03:00:00Z", "2026-01-02T03:00:00Z"


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def add(api: ClusterApi, spec: str = NIGHTLY, who: str = "submitter") -> httpx2.Response:
    return api.ask(who, "POST", "/schedules", {"spec_text": spec})


def remove(api: ClusterApi, name: str = "nightly") -> httpx2.Response:
    return api.ask("submitter", "DELETE", f"/schedules/{name}")


def listed(api: ClusterApi) -> list[tuple[str, str]]:
    return [(schedule["name"], schedule["cron"]) for schedule in api.http.get("/schedules").json()]


def asked(api: ClusterApi, time: str = TIME, name: str = "nightly", who: str = "schedule nightly") -> httpx2.Response:
    return api.ask(who, "POST", f"/schedules/{name}/runs", **{"Idempotency-Key": time})


def end(api: ClusterApi, run: Run) -> None:
    api.store.add_event(RunEvent(run_id=run.run_id, at=datetime.now(UTC), state=RunState.FINISHED))


def test_a_schedule_is_named_as_its_spec_and_everybody_may_read_it(api: ClusterApi) -> None:
    answer = add(api)
    assert answer.status_code == 201
    assert (answer.json()["name"], answer.json()["changed_by"]) == ("nightly", "ci:pipeline")
    assert add(api, NIGHTLY.replace("nightly", "hourly").replace("0 3", "0  *")).status_code == 201
    assert listed(api) == [("hourly", "0 * * * *"), ("nightly", "0 3 * * *")]
    assert api.http.get("/schedules").json()[1] == answer.json()
    assert newest_runs(api.store, 10) == []


def test_adding_a_schedule_again_changes_nothing_and_another_spec_of_the_name_replaces_it(api: ClusterApi) -> None:
    assert add(api).json() == add(api).json()
    changed = add(api, NIGHTLY.replace("batches: 4", "batches: 5")).json()
    assert "batches: 5" in changed["spec_text"]
    assert api.http.get("/schedules").json() == [changed]


def test_a_schedule_that_is_removed_is_gone_until_it_is_added_again(api: ClusterApi) -> None:
    assert_problem(remove(api), 404, "there is no schedule nightly")
    add(api)
    assert [remove(api).status_code, remove(api).status_code] == [204, 204]
    assert listed(api) == []
    assert_problem(asked(api), 404, "there is no schedule nightly")
    add(api)
    assert listed(api) == [("nightly", "0 3 * * *")]


def test_the_newest_change_counts_even_where_the_clock_was_set_back(api: ClusterApi) -> None:
    add(api)
    (known,) = api.store.schedules()
    api.store.add_schedule(known.model_copy(update={"changed_at": known.changed_at + timedelta(days=1)}))
    remove(api)
    assert listed(api) == []
    add(api)
    assert listed(api) == [("nightly", "0 3 * * *")]


def test_a_spec_with_faults_or_without_times_is_refused_with_their_places(api: ClusterApi) -> None:
    assert_problem(add(api, NIGHTLY.replace("pool-b", "pool-c")), 422, "spec.yaml:6:", "there is no pool 'pool-c'")
    assert_problem(add(api, NIGHTLY.replace("0 3", "0 24")), 422, "spec.yaml:11:11: schedule: '24' is not a valid hour")
    assert_problem(add(api, CLUSTER_SPEC), 422, "spec.yaml:1:1: schedule: is required here")
    assert listed(api) == []


def test_the_run_of_a_time_is_queued_once_and_its_page_names_the_schedule(api: ClusterApi) -> None:
    add(api)
    first, again = asked(api), asked(api)
    assert (first.status_code, first.json()) == (201, again.json())
    (run,) = newest_runs(api.store, 10)
    assert first.json() == {"run_id": run.run_id, "begun": True}
    summary = api.http.get(f"/runs/{run.run_id}").json()["summary"]
    assert (summary["trigger"], summary["spec_name"], summary["state"]) == ("schedule", "nightly", "queued")
    assert summary["detail"] == f"schedule nightly, {TIME}"
    assert run.spec_text == NIGHTLY


def test_the_next_time_begins_no_run_while_one_is_open_and_another_once_it_has_ended(api: ClusterApi) -> None:
    add(api)
    asked(api)
    (run,) = newest_runs(api.store, 10)
    api.submit(NIGHTLY)
    skipped = asked(api, NEXT)
    assert (skipped.status_code, skipped.json()) == (200, {"run_id": run.run_id, "begun": False})
    end(api, run)
    assert asked(api, TIME).json() == {"run_id": run.run_id, "begun": True}
    begun = asked(api, NEXT)
    assert (begun.status_code, begun.json()["begun"]) == (201, True)
    assert begun.json()["run_id"] != run.run_id


def test_a_time_that_was_asked_for_stays_the_same_run_whatever_became_of_the_schedule(api: ClusterApi) -> None:
    add(api)
    first = asked(api).json()
    add(api, NIGHTLY.replace("batches: 4", "batches: 5"))
    assert asked(api).json() == first
    remove(api)
    assert asked(api).json() == first


def test_two_schedules_of_the_same_time_are_two_runs(api: ClusterApi) -> None:
    add(api)
    add(api, NIGHTLY.replace("nightly", "other"))
    assert asked(api).json()["run_id"] != asked(api, name="other", who="schedule other").json()["run_id"]


def test_a_schedule_whose_pool_is_gone_says_so_when_its_time_has_come(api: ClusterApi) -> None:
    add(api)
    (known,) = api.store.schedules()
    gone = known.model_copy(
        update={
            "spec_text": NIGHTLY.replace("pool-b", "pool-z"),
            "changed_at": known.changed_at + timedelta(seconds=1),
        }
    )
    api.store.add_schedule(gone)
    assert_problem(asked(api), 422, "schedule nightly:6:", "there is no pool 'pool-z'")
    assert newest_runs(api.store, 10) == []


@pytest.mark.parametrize(
    ("method", "path", "who", "says"),
    [
        ("POST", "/schedules", "dispatcher", "is a dispatcher"),
        ("POST", "/schedules", "schedule nightly", "is a schedule"),
        ("DELETE", "/schedules/nightly", "schedule nightly", "is a schedule"),
        ("POST", "/schedules/nightly/runs", "submitter", "is a submitter"),
        ("POST", "/schedules/nightly/runs", "schedule other", "the token is for schedule other, not nightly"),
        ("POST", "/schedules/nightly/runs", "pod run job uid", "is a job"),
        ("POST", "/runs", "schedule nightly", "is a schedule"),
        ("GET", "/open-runs", "schedule nightly", "is a schedule"),
    ],
)
def test_a_schedules_pod_may_ask_for_its_own_runs_and_nobody_else_may(
    api: ClusterApi, method: str, path: str, who: str, says: str
) -> None:
    add(api)
    bodies = {"/schedules": {"spec_text": NIGHTLY}, "/runs": {"spec_text": NIGHTLY}}
    answer = api.ask(who, method, path, bodies.get(path), **{"Idempotency-Key": TIME})
    assert_problem(answer, 403, says)


def test_without_a_time_no_run_is_asked_for(api: ClusterApi) -> None:
    add(api)
    assert_problem(api.ask("schedule nightly", "POST", "/schedules/nightly/runs"), 422, "header.Idempotency-Key")


def test_a_machine_by_itself_has_no_schedules(client: httpx2.Client) -> None:
    assert client.get("/schedules").json() == []
    asks = {"Authorization": f"Bearer {sign_role_token('alice', 'submitter', SECRET, now=datetime.now(UTC))}"}
    answer = client.post("/schedules", json={"spec_text": NIGHTLY}, headers=asks)
    assert_problem(answer, 409, "no queue")
