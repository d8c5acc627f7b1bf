"""Commits of libraries in the API: who may ask, what is begun once, and how their numbers stand beside each other."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, sign_role_token
from kexbench.domain.following import LibraryBranch
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.runs import RunState, Trigger
from kexbench.planning.follow import following_text
from kexbench.queue.runs import record
from kexbench.queue.supplies import LocalSupplies
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.asking import series
from tests.api.cluster import CLUSTER_SPEC, ClusterApi, cluster_api, planner
from tests.api.conftest import ClientOf, assert_problem
from tests.builders import NOON, RSA, SPEC, a_commit, a_kit, a_run, an_invocation, newest_runs

BRANCH = LibraryBranch(library="fake", address="/src/library.git", branch="master")
FOLLOWS = following_text(CLUSTER_SPEC, "spec.yaml", BRANCH, 1)
CATALOGUE = "apiVersion: kexbench.dev/v1\nkind: Catalogue\nlibraries: {}\nrepositories: { fake: [/src/library.git] }\n"
A, B = "a" * 40, "b" * 40
SECRET = "s" * 64


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def a_library_commit(digit: str, seconds: int = 0) -> LibraryCommit:
    moment = NOON + timedelta(seconds=seconds)
    return LibraryCommit(hash=digit * 40, committed_at=moment, authored_at=moment, subject=f"Change {digit}")


def asked(api: ClusterApi, who: str = "dispatcher", name: str = "benchmarks", **changes: Any) -> httpx2.Response:
    following = {"repository": "benchmarks", "path": "a.yaml", "branch": BRANCH.model_dump()}
    body = {
        "following": following,
        "spec_commit": a_commit().model_dump(mode="json"),
        "commit": a_library_commit("b").model_dump(mode="json"),
        "base": A,
        "spec_text": FOLLOWS,
        "catalogue_text": CATALOGUE,
    }
    return api.ask(who, "POST", f"/repositories/{name}/followed-runs", body | changes)


@pytest.mark.parametrize("who", ["submitter", "builder one", "pod one job uid", "schedule nightly"])
def test_nobody_but_the_dispatcher_asks_for_followed_commits(api: ClusterApi, who: str) -> None:
    assert_problem(asked(api, who), 403)
    assert_problem(api.ask(who, "GET", "/repositories/benchmarks/followed"), 403)
    assert newest_runs(api.store, 10) == []


def test_a_followed_commit_is_one_run_however_often_it_is_asked_for(api: ClusterApi) -> None:
    answers = [asked(api).json() for _ in range(2)]
    (run,) = newest_runs(api.store, 10)
    assert [answer["run_id"] for answer in answers] == [run.run_id] * 2
    assert run.trigger is Trigger.LIBRARY
    assert [one.reference for one in run.plan.subjects] == [BRANCH.reference(A), BRANCH.reference(B)]
    other = asked(api, commit=a_library_commit("c").model_dump(mode="json")).json()["run_id"]
    assert other != run.run_id


def test_a_repository_that_the_catalogue_does_not_name_is_a_fault(api: ClusterApi) -> None:
    answer = asked(api, catalogue_text=None).json()
    assert answer["run_id"] is None
    assert "is not among the catalogue's repositories of fake" in answer["faults"][0]["text"]
    assert_problem(asked(api, name="another"), 422)
    assert newest_runs(api.store, 10) == []


def test_on_a_cluster_a_backfill_takes_only_what_the_catalogue_names(api: ClusterApi) -> None:
    body = {"spec_text": FOLLOWS, "commits": [A, B]}
    assert_problem(api.ask("submitter", "POST", "/backfills", body), 422, "is not among the catalogue's repositories")
    assert_problem(api.ask("builder one", "POST", "/backfills", body), 403)


@pytest.fixture
def here(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    app = create_app(empty_store, LocalGatekeeper(SECRET), None, LocalSupplies(planner()))
    with client_of(app) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        token = sign_role_token("alice", "submitter", SECRET, now=datetime.now(UTC))
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


def test_a_backfill_is_shown_before_it_is_queued_and_queued_once(
    here: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    body = {"spec_text": FOLLOWS, "commits": [A, B]}
    found = here.post("/backfills", json=body | {"queue": False}).json()
    assert (found["state"], found["estimated_s"] > 0, newest_runs(empty_store, 10)) == (None, True, [])
    for _ in range(2):
        assert here.post("/backfills", json=body).json() == found | {"state": "queued", "detail": DETAIL}
    (run,) = newest_runs(empty_store, 10)
    assert (run.run_id, run.trigger) == (found["run_id"], Trigger.BACKFILL)
    record(empty_store, run.run_id, RunState.FAILED, "no")
    again = here.post("/backfills", json=body).json()
    assert (again["state"], again["detail"], again["started"]) == ("failed", "no", False)
    alone = here.post("/backfills", json=body | {"commits": [B]}).json()
    assert alone["run_id"] != run.run_id


DETAIL = f"backfill of fake master, commit {B[:12]}"


def test_a_spec_with_faults_begins_no_backfill(here: httpx2.Client) -> None:
    answer = here.post("/backfills", json={"spec_text": SPEC, "commits": [A]})
    assert_problem(answer, 422, "spec.yaml:1:1: follow: must have library, repository and branch")


def test_commits_of_one_version_are_points_of_a_series_in_their_order_each_compared_with_the_one_before(
    api: ClusterApi,
) -> None:
    kits = {
        reference: a_kit(BRANCH.reference(commit.hash), version="3.6.0-dev", commit=commit)
        for reference, commit in (("fake@1.0", a_library_commit("f")), ("fake@1.1", a_library_commit("1", 60)))
    }
    run = a_run(kits=kits)
    api.store.add_run(run)
    for number in range(6):
        api.store.add_invocation(run, an_invocation(run, number, cpu_ns={"fake@1.0": [10] * 4, "fake@1.1": [20] * 4}))
    (line,) = series(api.http, RSA)
    assert [point["subject"]["commit"]["subject"] for point in line["points"]] == ["Change f", "Change 1"]
    matrix = api.http.get("/matrix").json()
    assert [one["commit"]["hash"] for one in matrix["subjects"]] == ["f" * 40, "1" * 40]
    changes = {cell["subject"]: cell["change"] for cell in matrix["cells"]}
    older, newer = (one["name"] for one in matrix["subjects"])
    assert changes[older] is None
    assert changes[newer]["before"]["subject"] == older
    assert changes[newer]["ratio"] == pytest.approx(2)
    summary = api.http.get(f"/runs/{run.run_id}").json()["summary"]
    assert summary["subjects"] == ["fake 3.6.0-dev fffffff", "fake 3.6.0-dev 1111111"]
