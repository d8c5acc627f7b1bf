"""Commits in the API: who may ask for their runs, what is refused, and what is shown of them, page by page."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.domain.commits import Check, HandledCommit, Reason, SpecFault, branch_of
from kexbench.domain.runs import RunState, Trigger
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, ClusterApi, cluster_api
from tests.api.conftest import ClientOf, assert_problem
from tests.builders import NOON, a_commit, a_handled_commit, an_event, an_invocation, newest_runs

QUICK = "bench-specs/quick.yaml"
BROKEN = CLUSTER_SPEC.replace("pool-b", "pool-c")


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


FAULT = SpecFault(file="bench-specs/broken.yaml", line=1, column=1, text="no")


def asked(api: ClusterApi, who: str = "dispatcher", name: str = "benchmarks", **changes: Any) -> httpx2.Response:
    """For the run of a spec of a commit."""
    commit = a_commit().model_dump(mode="json") | changes.pop("commit", {})
    body = {"commit": commit, "path": QUICK, "reason": "spec", "spec_text": CLUSTER_SPEC, "catalogue_text": None}
    return api.ask(who, "POST", f"/repositories/{name}/runs", body | changes)


def noted(
    api: ClusterApi, handled: HandledCommit, who: str = "dispatcher", name: str = "", **commit: str
) -> httpx2.Response:
    body = handled.model_dump(mode="json")
    body["commit"] |= commit
    return api.ask(who, "POST", f"/repositories/{name or handled.commit.repository}/commits", body)


def page(api: ClusterApi, **query: Any) -> Any:
    answer = api.http.get("/commits", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def titles(found: Any) -> list[str]:
    return [one["commit"]["title"] for one in found["commits"]]


@pytest.mark.parametrize("who", ["submitter", "builder one", "pod one job uid", "schedule nightly"])
def test_nobody_but_the_dispatcher_asks_for_runs_of_commits_and_tells_of_them(api: ClusterApi, who: str) -> None:
    assert_problem(asked(api, who), 403)
    assert_problem(noted(api, a_handled_commit(), who), 403)
    assert_problem(api.ask(who, "GET", "/repositories/benchmarks/heads"), 403)
    assert (newest_runs(api.store, 10), page(api)["commits"]) == ([], [])


def test_the_repository_of_a_commit_is_the_one_that_is_spoken_of(api: ClusterApi) -> None:
    said = "the body is of repository benchmarks, not another"
    assert_problem(asked(api, name="another"), 422, said)
    assert_problem(noted(api, a_handled_commit(), name="another"), 422, said)
    assert (newest_runs(api.store, 10), page(api)["commits"]) == ([], [])


@pytest.mark.parametrize("wrong", ["main", "0" * 39, "0" * 41, "A" * 40, "../" + "0" * 37])
def test_what_is_no_hash_of_a_commit_is_refused(api: ClusterApi, wrong: str) -> None:
    assert_problem(asked(api, commit={"commit": wrong}), 422, "commit")
    assert_problem(noted(api, a_handled_commit(), commit=wrong), 422, "commit")


def test_a_spec_of_a_commit_is_one_run_however_often_and_of_whatever_branch_it_is_asked_for(api: ClusterApi) -> None:
    first, again = asked(api), asked(api)
    assert (first.status_code, first.json()) == (200, again.json())
    assert asked(api, commit={"branch": "next"}).json() == first.json()
    (run,) = newest_runs(api.store, 10)
    assert first.json() == {"path": QUICK, "reason": "spec", "run_id": run.run_id, "faults": [], "dry_run": None}
    others = [asked(api, path="bench-specs/other.yaml"), asked(api, commit={"commit": "b" * 40})]
    assert len({answer.json()["run_id"] for answer in [first, *others]}) == 3


def test_the_run_of_a_pull_requests_head_says_so_and_its_newer_head_stands_in_its_line(api: ClusterApi) -> None:
    for commit in ("a" * 40, "b" * 40):
        asked(api, commit={"branch": branch_of(7), "commit": commit})
    assert {run.trigger for run in newest_runs(api.store, 10)} == {Trigger.PULL_REQUEST}
    first, second = api.http.get("/queue").json()["runs"]
    assert (first["priority"], first["superseded_by"]) == (1, second["run_id"])


def test_a_spec_with_faults_has_no_run_and_tells_them_all_with_their_places(api: ClusterApi) -> None:
    check = asked(api, spec_text=BROKEN.replace("batches: 4", "batches: no")).json()
    assert check["run_id"] is None
    assert [(fault["file"], fault["line"], fault["column"]) for fault in check["faults"]] == [
        (QUICK, 6, 17),
        (QUICK, 10, 37),
    ]
    assert newest_runs(api.store, 10) == []


def test_each_spec_of_a_commit_tells_how_far_its_run_is(api: ClusterApi) -> None:
    run_id = asked(api).json()["run_id"]
    checks = (
        Check(path=QUICK, reason=Reason.SPEC, run_id=run_id),
        Check(path="bench-specs/broken.yaml", reason=Reason.LIBRARY, faults=(FAULT,)),
    )
    noted(api, a_handled_commit(checks=checks))
    (handled,) = page(api)["commits"]
    assert (handled["commit"], handled["note"]) == (a_commit().model_dump(mode="json"), "")
    quick, broken = handled["checks"]
    assert (quick["run_id"], quick["state"], quick["invocations_stored"]) == (run_id, "queued", 0)
    assert broken == {
        "path": "bench-specs/broken.yaml",
        "reason": "library",
        "run_id": None,
        "faults": [FAULT.model_dump()],
        "dry_run": None,
        "state": None,
        "detail": "",
        "invocations_stored": 0,
    }


def test_a_state_that_changes_is_shown_with_what_is_said_of_it(api: ClusterApi) -> None:
    run = api.stored(asked(api).json()["run_id"])
    noted(api, a_handled_commit(checks=(Check(path=QUICK, reason=Reason.SPEC, run_id=run.run_id),)))
    api.deliver_kits(run)
    api.ask("dispatcher", "POST", f"/runs/{run.run_id}/start")
    run = api.stored(run.run_id)
    api.announce(run)
    api.store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": 5}), api.store.attempts(run.run_id)[0].host)
    end = an_event(run, RunState.FAILED, detail="a node was lost")
    api.store.add_event(end.model_copy(update={"at": NOON.replace(year=2100)}))
    (check,) = page(api)["commits"][0]["checks"]
    assert (check["state"], check["detail"], check["invocations_stored"]) == ("failed", "a node was lost", 1)


def test_commits_are_read_page_by_page_newest_first_and_of_one_repository(api: ClusterApi) -> None:
    for minute in range(5):
        repository = "others" if minute == 1 else "benchmarks"
        noted(api, a_handled_commit(f"commit {minute}", repository=repository, minutes=minute))
    first = page(api, limit=2)
    assert titles(first) == ["commit 4", "commit 3"]
    second = page(api, limit=2, before=first["next_before"])
    assert titles(second) == ["commit 2", "commit 1"]
    last = page(api, limit=2, before=second["next_before"])
    assert (titles(last), last["next_before"]) == (["commit 0"], None)
    assert first["repositories"] == last["repositories"] == ["benchmarks", "others"]
    assert titles(page(api, repository="others")) == ["commit 1"]
    assert page(api, repository="nobody") == {
        "commits": [],
        "repositories": ["benchmarks", "others"],
        "next_before": None,
    }


def test_everybody_may_read_commits_but_only_in_pages_that_there_can_be(api: ClusterApi) -> None:
    assert page(api) == {"commits": [], "repositories": [], "next_before": None}
    for wrong in ({"limit": 0}, {"limit": 201}, {"before": "yesterday"}, {"before": "5"}, {"repository": "a" * 64}):
        assert_problem(api.http.get("/commits", params=wrong), 422, next(iter(wrong)))


def test_heads_are_how_far_each_branch_was_looked_through(api: ClusterApi) -> None:
    early = a_handled_commit("first", minutes=0)
    for handled in (a_handled_commit("second", minutes=1, note="[skip bench] in its message"), early, early):
        assert noted(api, handled).status_code == 204
    heads = api.ask("dispatcher", "GET", "/repositories/benchmarks/heads").json()
    assert heads == {"main": {"commit": a_commit("second").commit, "presence": "present"}}
    assert api.ask("dispatcher", "GET", "/repositories/nobody/heads").json() == {}
    assert early.handled_at == NOON + timedelta(0)
