"""The life of a cluster's run in the API: asked for, started, cancelled, resumed; by whom, and how often."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, cast

import httpx2
import pytest

from kexbench.api.calling import sign_role_token
from kexbench.domain.cases import Case
from kexbench.domain.runs import Run, RunEvent, RunState
from kexbench.material.padding import MaterialError
from kexbench.material.store import MaterialStore
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, ClusterApi, cluster_api
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.builders import HOST, a_run, all_invocations, an_event, newest_runs


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def states(api: ClusterApi, run_id: str) -> list[RunState]:
    return [event.state for event in api.store.events(run_id)]


def read(api: ClusterApi, run: Run) -> dict[str, Any]:
    """As its page reads it."""
    return cast(dict[str, Any], api.http.get(f"/runs/{run.run_id}").json())


def came_to(api: ClusterApi, run: Run, state: RunState) -> None:
    api.store.add_event(RunEvent(run_id=run.run_id, at=datetime.now(UTC), state=state))


def test_a_spec_that_is_asked_for_is_a_queued_run_with_a_page(api: ClusterApi) -> None:
    answer = api.submit()
    assert answer.status_code == 201
    summary = answer.json()
    assert answer.headers["location"] == f"/api/v1/runs/{summary['run_id']}"
    assert (summary["state"], summary["trigger"], summary["pools"]) == ("queued", "api", ["pool-a", "pool-b"])
    assert (summary["cpu_model"], summary["subjects"]) == (None, ["fake@1.0", "fake@1.1"])
    detail = api.http.get(f"/runs/{summary['run_id']}").json()
    assert (detail["hosts"], detail["host_kind"], detail["cells"], detail["kits"]) == ([], None, [], {})
    assert detail["spec_text"] == CLUSTER_SPEC


def test_the_same_key_asks_for_the_same_run(api: ClusterApi) -> None:
    headers = {"Idempotency-Key": "commit 1"}
    first, again = api.submit(**headers), api.submit(**headers)
    assert first.json()["run_id"] == again.json()["run_id"]
    assert states(api, first.json()["run_id"]) == [RunState.QUEUED]
    other = api.submit(CLUSTER_SPEC.replace("batches: 4", "batches: 5"), **headers)
    assert_problem(other, 409, "another spec")


def test_a_service_that_ends_while_it_announces_a_run_leaves_nothing_that_nobody_sees_to(
    api: ClusterApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(Exception):
        """As if by kill -9."""

    def end(_: Run) -> None:
        raise Ended

    with monkeypatch.context() as patch:
        patch.setattr(api.store, "add_run", end)
        with pytest.raises(Ended):
            api.submit(**{"Idempotency-Key": "commit 1"})
    assert api.http.get("/runs").json()["runs"] == []
    assert api.ask("dispatcher", "GET", "/open-runs").json() == []
    assert api.store.run_states() == []
    asked = api.submit(**{"Idempotency-Key": "commit 1"}).json()
    assert asked["state"] == "queued"
    assert [one["run_id"] for one in api.ask("dispatcher", "GET", "/open-runs").json()] == [asked["run_id"]]


def test_without_a_key_each_is_a_run_of_its_own(api: ClusterApi) -> None:
    assert api.submit().json()["run_id"] != api.submit().json()["run_id"]


def test_a_spec_with_faults_names_them_with_their_places(api: ClusterApi) -> None:
    answer = api.ask("submitter", "POST", "/runs", {"spec_text": CLUSTER_SPEC.replace("pool-b", "pool-c")})
    assert_problem(answer, 422, "spec.yaml:6:", "there is no pool 'pool-c'")
    assert newest_runs(api.store, 10) == []


def test_a_spec_without_pools_learns_which_there_are(api: ClusterApi) -> None:
    answer = api.submit(CLUSTER_SPEC.replace("pools: [pool-a, pool-b]\n", ""))
    assert_problem(answer, 409, "there is no pool local; there are arm, pool-a, pool-b")
    assert answer.json()["remedy"] == "name pools of the cluster in the spec: pools: [NAME]"


def test_pools_of_two_architectures_need_two_specs(api: ClusterApi) -> None:
    answer = api.submit(CLUSTER_SPEC.replace("pool-b", "arm"))
    assert_problem(answer, 422, "different architectures", "arm is aarch64")


def test_a_run_starts_once_its_kits_are_there(api: ClusterApi) -> None:
    run = api.queued()
    path = f"/runs/{run.run_id}"
    assert api.ask("dispatcher", "GET", f"{path}/kits").json() == {
        "architecture": "x86_64",
        "kits": {"fake@1.0": None, "fake@1.1": None},
    }
    assert_problem(api.ask("dispatcher", "POST", f"{path}/start"), 409, "the kit of fake@1.0 is not built yet")
    assert_problem(api.ask(f"pod {run.run_id} {run.plan.jobs[0].job_id} u", "GET", job_path(run) + "/order"), 409)
    api.deliver_kits(run)
    assert None not in api.ask("dispatcher", "GET", f"{path}/kits").json()["kits"].values()
    for _ in range(2):
        assert api.ask("dispatcher", "POST", f"{path}/start").status_code == 200
    started = api.stored(run.run_id)
    assert (sorted(started.kits), started.host) == (["fake@1.0", "fake@1.1"], None)
    assert sorted(started.material) == sorted(case.case_id for case in run.plan.cases)
    assert states(api, run.run_id) == [RunState.QUEUED, RunState.RUNNING]
    assert api.http.get(path).json()["summary"]["subjects"] == ["fake 1.0", "fake 1.1"]


def test_a_run_whose_key_material_cannot_be_made_ends_with_the_reason(
    api: ClusterApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    def provide(_: MaterialStore, case: Case) -> NoReturn:
        raise MaterialError(f"a certificate of {case.key_name} needs more than 5 bytes")

    run = api.queued()
    api.deliver_kits(run)
    monkeypatch.setattr(MaterialStore, "provide", provide)
    for _ in range(2):
        event = api.ask("dispatcher", "POST", f"/runs/{run.run_id}/start")
        assert (event.status_code, event.json()["state"]) == (200, "failed")
        assert (
            event.json()["detail"] == "key material cannot be made: a certificate of rsa-2048 needs more than 5 bytes"
        )
    assert states(api, run.run_id) == [RunState.QUEUED, RunState.FAILED]


def job_path(run: Run) -> str:
    return f"/runs/{run.run_id}/jobs/{run.plan.jobs[0].job_id}"


def test_kits_that_change_after_the_start_do_not_change_the_run(api: ClusterApi) -> None:
    run = api.started()
    before = api.ask("dispatcher", "GET", f"/runs/{run.run_id}/kits").json()
    api.shared_store.kit_store.means(next(iter(run.kits.values())).ref, "x86_64", "0" * 16, "b")
    assert api.ask("dispatcher", "GET", f"/runs/{run.run_id}/kits").json() == before


def test_the_dispatcher_sees_open_runs_the_oldest_first_and_no_others(api: ClusterApi) -> None:
    first, second, ended = api.queued(), api.queued(), api.queued()
    came_to(api, ended, RunState.FAILED)
    local = a_run()
    api.store.add_run(local)
    api.store.add_event(an_event(local))
    found = api.ask("dispatcher", "GET", "/open-runs").json()
    assert [one["run_id"] for one in found] == [first.run_id, second.run_id]
    assert [[event["state"] for event in one["events"]] for one in found] == [["queued"]] * 2
    assert [(one["pools"], one["invocations_planned"]) for one in found] == [
        (["pool-a", "pool-b"], run.plan.invocations) for run in (first, second)
    ]


def test_the_dispatcher_reads_a_run_whole_before_and_after_its_start(api: ClusterApi) -> None:
    run = api.queued()
    path = f"/open-runs/{run.run_id}"
    assert Run.model_validate(api.ask("dispatcher", "GET", path).json()) == run
    api.deliver_kits(run)
    assert api.ask("dispatcher", "POST", f"/runs/{run.run_id}/start").status_code == 200
    assert Run.model_validate(api.ask("dispatcher", "GET", path).json()) == api.stored(run.run_id)


def test_cancelling_is_asked_for_once_and_only_of_open_runs(api: ClusterApi) -> None:
    run = api.queued()
    for _ in range(2):
        assert api.ask("submitter", "POST", f"/runs/{run.run_id}/cancel").json()["state"] == "cancelling"
    assert states(api, run.run_id) == [RunState.QUEUED, RunState.CANCELLING]
    assert api.store.events(run.run_id)[-1].detail == "cancelled by ci:pipeline"
    came_to(api, run, RunState.CANCELLED)
    assert_problem(api.ask("submitter", "POST", f"/runs/{run.run_id}/cancel"), 409, "is cancelled")


def test_a_run_that_ended_early_is_queued_again_as_another_series(api: ClusterApi) -> None:
    run = api.started()
    assert_problem(api.ask("submitter", "POST", f"/runs/{run.run_id}/resume"), 409, "is running")
    came_to(api, run, RunState.FAILED)
    resumed = api.ask("submitter", "POST", f"/runs/{run.run_id}/resume")
    assert (resumed.status_code, resumed.json()["state"]) == (202, "queued")
    (seen,) = api.ask("dispatcher", "GET", "/open-runs").json()
    assert [event["state"] for event in seen["events"]] == ["queued", "running", "failed", "queued"]
    assert api.ask("dispatcher", "POST", f"/runs/{run.run_id}/start").status_code == 200
    assert states(api, run.run_id)[-1] is RunState.RUNNING


def measured_whole(api: ClusterApi) -> Run:
    run = api.started()
    for measured in all_invocations(run):
        api.store.add_invocation(run, measured, HOST)
    return run


def test_a_run_that_failed_with_all_its_invocations_can_still_finish(api: ClusterApi) -> None:
    run = measured_whole(api)
    came_to(api, run, RunState.FAILED)
    assert read(api, run)["controls"] == ["resume"]
    assert api.ask("submitter", "POST", f"/runs/{run.run_id}/resume").status_code == 202


def test_a_complete_run_is_not_resumed(api: ClusterApi) -> None:
    run = measured_whole(api)
    came_to(api, run, RunState.FINISHED)
    assert_problem(api.ask("submitter", "POST", f"/runs/{run.run_id}/resume"), 409, "already has all its invocations")
    assert read(api, run)["controls"] == []


@pytest.mark.parametrize("state", RunState)
def test_a_run_offers_exactly_what_would_change_it(api: ClusterApi, state: RunState) -> None:
    changing = []
    for control in ("cancel", "resume"):
        run = api.queued()
        came_to(api, run, state)
        answer = api.ask("submitter", "POST", f"/runs/{run.run_id}/{control}")
        if answer.is_success and answer.json()["state"] != state:
            changing.append(control)
    run = api.queued()
    came_to(api, run, state)
    assert read(api, run)["controls"] == changing


def test_a_run_tells_every_change_of_its_state_in_their_order(api: ClusterApi) -> None:
    run = api.queued()
    came_to(api, run, RunState.BUILDING)
    api.ask("submitter", "POST", f"/runs/{run.run_id}/cancel")
    events = read(api, run)["events"]
    assert [event["state"] for event in events] == ["queued", "building", "cancelling"]
    assert [event["detail"] for event in events] == ["", "", "cancelled by ci:pipeline"]
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)


@pytest.mark.parametrize(
    ("method", "path", "who"),
    [
        ("POST", "/runs", "dispatcher"),
        ("POST", "/runs/{run}/cancel", "dispatcher"),
        ("POST", "/runs/{run}/resume", "pod {run} {job} uid"),
        ("GET", "/open-runs", "submitter"),
        ("GET", "/open-runs/{run}", "pod another {job} uid"),
        ("GET", "/runs/{run}/kits", "builder {run}"),
        ("POST", "/runs/{run}/start", "submitter"),
        ("GET", "/runs/{run}/jobs/{job}/order", "submitter"),
        ("GET", "/runs/{run}/jobs/{job}/order", "pod {run} another uid"),
        ("GET", "/runs/{run}/jobs/{job}/order", "pod another {job} uid"),
        ("PUT", "/kits/0123456789abcdef?ingredients=0123456789abcdef0123456789abcdef", "pod {run} {job} uid"),
        ("PUT", "/kits/0123456789abcdef?ingredients=0123456789abcdef0123456789abcdef", "submitter"),
        ("GET", "/kits/0123456789abcdef", "submitter"),
        ("POST", "/runs/{run}/events", "submitter"),
    ],
)
def test_each_role_may_do_its_own_and_nothing_else(api: ClusterApi, method: str, path: str, who: str) -> None:
    run = api.started()
    names = {"run": run.run_id, "job": run.plan.jobs[0].job_id}
    bodies = {
        "/runs": {"spec_text": CLUSTER_SPEC},
        "/runs/{run}/events": an_event(run).model_dump(mode="json"),
    }
    answer = api.ask(who.format(**names), method, path.format(**names), bodies.get(path))
    assert_problem(answer, 403)


def test_a_dispatcher_reports_what_becomes_of_a_run_but_queues_none(api: ClusterApi) -> None:
    run = api.started()
    events = {state: an_event(run, state).model_dump(mode="json") for state in (RunState.QUEUED, RunState.FAILED)}
    path = f"/runs/{run.run_id}/events"
    assert_problem(api.ask("dispatcher", "POST", path, events[RunState.QUEUED]), 403, "may not queue")
    assert api.ask("dispatcher", "POST", path, events[RunState.FAILED]).status_code == 204
    assert [event["state"] for event in read(api, run)["events"]].count("queued") == 1


def test_nobody_may_do_anything(api: ClusterApi) -> None:
    assert_problem(api.ask("stranger", "POST", "/runs", {"spec_text": CLUSTER_SPEC}), 401, "nobody is called")


def test_a_machine_by_itself_has_no_cluster(client: httpx2.Client) -> None:
    asking = sign_role_token("alice", "submitter", SECRET, now=datetime.now(UTC))
    headers = {"Authorization": f"Bearer {asking}"}
    answer = client.post("/runs", json={"spec_text": CLUSTER_SPEC}, headers=headers)
    assert_problem(answer, 409, "no queue")


def test_without_a_cluster_a_run_of_one_is_only_read(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = a_run(host=None)
    empty_store.add_run(run)
    empty_store.add_event(an_event(run, RunState.FAILED, detail="a node was lost"))
    found = client.get(f"/runs/{run.run_id}").json()
    assert (found["controls"], [event["detail"] for event in found["events"]]) == ([], ["a node was lost"])
