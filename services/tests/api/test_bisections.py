"""Bisections that a service sees to, with a cluster that measures what a test says: whole ones, with restarts at every
step, two that advance them, commits that do not build, trouble, cancelling and resuming."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from kexbench.api.calling import API_PREFIX
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState, Trigger
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import LIBRARY_REPOSITORY, ClusterApi, cluster_api, cluster_app
from tests.api.conftest import ClientOf, assert_problem
from tests.builders import HOST, a_kit, an_invocation, an_outcome
from tests.stores import add_together

QUESTION: dict[str, Any] = {
    "library": "fake",
    "repository": LIBRARY_REPOSITORY,
    "good": "v1",
    "bad": "main",
    "cases": ["*_ecdhe-ecdsa_*x25519_aes-128-gcm"],
    "pool": "pool-a",
    "invocations": 6,
}
COST_NS = 1e6


@dataclass
class Lab:
    """An API with a cluster, and what its pods would find: commits, of which some cost more and some do not build."""

    api: ClusterApi
    client_of: ClientOf
    commits: int = 16
    first_bad: int = 9
    step: float = 1.02
    broken: Collection[int] = ()
    bisection_id: str = ""

    def begin(self, **changes: Any) -> dict[str, Any]:
        answer = self.api.ask("submitter", "POST", "/bisections", QUESTION | changes)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        self.bisection_id = found["bisection_id"]
        return found

    def searching(self, **changes: Any) -> "Lab":
        """With its commits told."""
        self.begin(**changes)
        line = {"bisection_id": self.bisection_id, "commits": [a_line_commit(n) for n in range(self.commits)]}
        answer = self.api.ask(f"builder {self.bisection_id}", "PUT", f"/bisections/{self.bisection_id}/line", line)
        assert answer.status_code == 204, answer.text
        return self

    def restart(self) -> None:
        """Another process, which knows what is stored and nothing else."""
        self.api.http = self.client_of(cluster_app(self.api.store, self.api.folder))
        self.api.http.base_url = httpx.URL(f"http://localhost{API_PREFIX}")

    def advance(self) -> Any:
        answer = self.api.ask("dispatcher", "POST", "/bisections/advance")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def detail(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.http.get(f"/bisections/{self.bisection_id}").json()
        return found

    def state(self) -> tuple[str, str]:
        summary = self.detail()["summary"]
        return summary["state"], summary["detail"]

    def control(self, control: str) -> httpx.Response:
        return self.api.ask("submitter", "POST", f"/bisections/{self.bisection_id}/{control}")

    def newest(self) -> Run:
        """The run that was asked for last."""
        return self.api.stored(self.detail()["runs"][-1]["run_id"])

    def measure(self, run: Run) -> None:
        """As pods do, or as a build that fails."""
        hashes = {a_line_commit(number)["hash"]: number for number in range(self.commits)}
        numbers = {subject.reference: hashes[subject.source.rpartition("#")[2]] for subject in run.plan.subjects}
        unbuilt = tuple(reference for reference, number in numbers.items() if number in self.broken)
        if unbuilt:
            self.become(run, RunState.FAILED, "make: it fails", RunReason.UNBUILDABLE, unbuilt)
            return
        started = run.model_copy(update={"kits": {name: a_kit(name, version="1.0") for name in numbers}})
        self.api.store.add_run(started)
        found = []
        for case in run.plan.cases:
            for number in range(run.plan.measure.invocations):
                costs = {name: self.cost(commit, number) for name, commit in numbers.items()}
                found.append(an_invocation(started, number, cpu_ns=costs, case_id=case.case_id))
        add_together(self.api.store, started, found, HOST)
        self.become(run, RunState.FINISHED)

    def cost(self, commit: int, invocation: int) -> float:
        """With noise that is the same each time."""
        noise = 0.0002 * ((7 * invocation + 3 * commit) % 5 - 2)
        return COST_NS * (self.step if commit >= self.first_bad else 1) * (1 + noise)

    def become(
        self,
        run: Run,
        state: RunState,
        detail: str = "",
        reason: RunReason | None = None,
        about: tuple[str, ...] = (),
    ) -> None:
        now = datetime.now(UTC)
        event = RunEvent(run_id=run.run_id, at=now, state=state, detail=detail, reason=reason, about=about)
        self.api.store.add_event(event)

    def search(self) -> dict[str, Any]:
        """Until nothing more happens; at every step begun anew, and advanced by two."""
        for _ in range(60):
            self.restart()
            assert [*self.advance(), *self.advance()] == []
            found = self.detail()
            if found["summary"]["state"] != "searching":
                return found
            self.measure(self.newest())
        raise AssertionError("it never ends")


def a_line_commit(number: int) -> dict[str, str]:
    author = "Ada <ada@example.org>"
    return {"hash": f"{number:040x}", "author": author, "date": "2026-01-01", "subject": f"Change {number}"}


@pytest.fixture
def lab(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> Lab:
    return Lab(cluster_api(empty_store, client_of, tmp_path), client_of)


def test_a_commit_among_64_is_found_whoever_advances_it_and_however_often_it_is_begun_anew(lab: Lab) -> None:
    lab.commits, lab.first_bad, lab.broken = 64, 41, (31, 32, 48)
    found = lab.searching().search()
    assert found["summary"]["state"] == "found"
    answer = found["answer"]
    (commit,) = answer["commits"]
    assert (commit["number"], commit["subject"], commit["fails"]) == (41, "Change 41", None)
    assert found["summary"]["detail"] == answer["says"]
    assert answer["says"].startswith("0000000000")
    assert answer["probability"] >= 0.99
    assert answer["builds"] <= 10
    assert {one["number"] for one in answer["failed"]} <= {31, 32, 48}
    assert answer["failed"], "the middle is tried first"
    assert answer["failed"][0]["fails"] == "make: it fails"

    runs = [lab.api.stored(one["run_id"]) for one in found["runs"]]
    assert {run.trigger for run in runs} == {Trigger.BISECTION}
    assert {run.plan.pools for run in runs} == {("pool-a",)}
    assert len(lab.api.store.runs(100)) == len(runs), "no step is measured twice"
    states = [[event.state for event in lab.api.store.events(run.run_id)] for run in runs]
    assert all(found.count(RunState.QUEUED) == 1 for found in states)
    assert [one["number"] for one in found["runs"]] == list(range(len(runs)))
    lab.advance()
    assert lab.detail() == found


def test_what_is_known_of_each_commit_is_told_in_their_order(lab: Lab) -> None:
    lab.broken = (8,)
    found = lab.searching().search()
    numbers = [one["number"] for one in found["commits"]]
    assert (numbers[0], numbers[-1], numbers) == (0, 15, sorted(numbers))
    assert sum(one["probability"] for one in found["commits"]) > 0.98
    reached = [one["reached"] for one in found["commits"]]
    assert all(one <= other for one, other in pairwise(reached))
    assert (reached[0], round(reached[-1], 9)) == (0, 1)
    told = {one["number"]: one for one in found["commits"]}
    assert told[8]["fails"] == "make: it fails"
    assert max(one["measurements"] for one in found["commits"]) >= 1
    (step,) = found["steps"]
    assert (step["changed"], round(step["ratio"], 3)) == (True, 1.02)


def test_ends_that_cost_the_same_cannot_be_told_apart_and_nothing_between_them_is_built(lab: Lab) -> None:
    lab.step = 1.0
    found = lab.searching().search()
    assert (found["summary"]["state"], len(found["runs"])) == ("cannot say", 1)
    assert "main costs what v1 does, as far as 12 invocations tell" in found["summary"]["detail"]
    assert found["answer"]["verdict"] == "cannot say"


def test_more_builds_go_on_from_what_a_spent_search_knows(lab: Lab) -> None:
    lab.commits = 64
    spent = lab.searching(builds=3).search()
    assert spent["summary"]["state"] == "cannot say"
    again = lab.begin(builds=12)
    assert (again["bisection_id"], again["state"]) == (spent["summary"]["bisection_id"], "searching")
    found = lab.search()
    assert found["summary"]["state"] == "found"
    assert [one["run_id"] for one in found["runs"]][: len(spent["runs"])] == [one["run_id"] for one in spent["runs"]]


def test_ends_that_give_no_number_could_not_be_measured(lab: Lab) -> None:
    lab.searching().advance()
    run = lab.newest()
    good, bad = (subject.reference for subject in run.plan.subjects)
    started = run.model_copy(update={"kits": {name: a_kit(name, version="1.0") for name in (good, bad)}})
    lab.api.store.add_run(started)
    outcomes = [an_outcome(good, reason="no such group")]
    (case,) = run.plan.cases
    lab.api.store.add_invocation(started, an_invocation(started, 0, outcomes=outcomes, case_id=case.case_id), HOST)
    lab.become(run, RunState.FINISHED)
    lab.advance()
    state, detail = lab.state()
    assert state == "not measured"
    assert detail == f"the ends have no number in any case: {good}: no such group"


@pytest.mark.parametrize("reason", [RunReason.DISK_FULL, RunReason.SOURCES_UNAVAILABLE])
def test_a_run_of_a_commit_that_fails_for_want_of_anything_but_its_sources_waits_until_it_is_resumed(
    lab: Lab, reason: RunReason
) -> None:
    lab.searching().advance()
    lab.measure(lab.newest())
    lab.advance()
    run = lab.newest()
    between = run.plan.subjects[2].reference
    lab.become(run, RunState.FAILED, f"{between}: {reason}", reason, (between,))
    lab.advance()
    assert lab.state() == ("waiting", f"run {run.run_id} is failed: {between}: {reason}")
    assert lab.detail()["controls"] == ["cancel", "resume"]
    assert lab.control("resume").json()["state"] == "searching"
    assert lab.newest().run_id == run.run_id
    assert [event.state for event in lab.api.store.events(run.run_id)][-1] is RunState.QUEUED
    assert lab.search()["summary"]["state"] == "found"


def test_an_end_that_does_not_build_is_told_and_waits(lab: Lab) -> None:
    lab.broken = (0,)
    found = lab.searching().search()
    assert found["summary"]["state"] == "waiting"
    assert found["summary"]["detail"].endswith("is failed: make: it fails")
    assert len(found["runs"]) == 1


def test_a_bisection_that_is_cancelled_asks_for_nothing_more_until_it_is_resumed(lab: Lab) -> None:
    lab.searching().advance()
    lab.measure(lab.newest())
    lab.advance()
    run = lab.newest()
    assert lab.control("cancel").json()["state"] == "cancelled"
    assert lab.api.store.events(run.run_id)[-1].state is RunState.CANCELLING
    assert_problem(lab.control("cancel"), 409, "is cancelled: there is nothing to cancel")
    assert_problem(lab.control("resume"), 409, "is being cancelled still")
    lab.become(run, RunState.CANCELLED)
    lab.advance()
    assert (lab.state(), len(lab.detail()["runs"])) == (("cancelled", "cancelled by ci:pipeline"), 2)
    assert lab.control("resume").status_code == 202
    assert lab.search()["summary"]["state"] == "found"
    assert_problem(lab.control("resume"), 409, "is found: there is nothing to resume")


def test_commits_are_looked_for_until_they_are_told_and_after_trouble_once_somebody_resumes(lab: Lab) -> None:
    bisection_id = lab.begin()["bisection_id"]
    assert lab.state() == ("asked", "")
    (wanted,) = lab.advance()
    assert wanted == {
        "bisection_id": bisection_id,
        "series": 1,
        "good": f"fake@git:{LIBRARY_REPOSITORY}#v1",
        "bad": f"fake@git:{LIBRARY_REPOSITORY}#main",
        "pool": "pool-a",
    }
    trouble, path = {"series": 1, "reason": "no branch main"}, f"/bisections/{bisection_id}/line-trouble"
    assert lab.api.ask("dispatcher", "POST", path, trouble).status_code == 204
    assert lab.state() == ("waiting", "no branch main")
    assert lab.advance() == []
    assert lab.control("resume").json()["state"] == "asked"
    assert [one["series"] for one in lab.advance()] == [2]
    lab.api.ask("dispatcher", "POST", path, trouble)
    assert lab.state() == ("asked", ""), "what is told late of an earlier series changes nothing"
    assert lab.searching().search()["summary"]["state"] == "found"


def test_the_first_line_that_is_told_stays_and_one_commit_is_no_line(lab: Lab) -> None:
    lab.commits = 1
    lab.searching().advance()
    lab.commits = 16
    lab.searching().advance()
    assert lab.detail()["searched"] == 1
    assert lab.state() == ("not measured", "v1 and main are the same commit")


def test_the_same_question_is_the_same_bisection_unless_it_is_asked_anew_after_its_end(lab: Lab) -> None:
    first = lab.begin()
    assert lab.begin(anew=True)["bisection_id"] == first["bisection_id"], "it has not ended"
    lab.searching().search()
    assert lab.begin()["bisection_id"] == first["bisection_id"]
    second = lab.begin(anew=True)
    assert (second["bisection_id"] != first["bisection_id"], second["state"]) == (True, "asked")
    assert lab.begin()["bisection_id"] == second["bisection_id"]
    newest = lab.api.http.get("/bisections", params={"limit": 1}).json()
    rest = lab.api.http.get("/bisections", params={"before": newest["next_before"]}).json()
    listed = [(one["bisection_id"], one["state"]) for one in [*newest["bisections"], *rest["bisections"]]]
    assert listed == [(second["bisection_id"], "asked"), (first["bisection_id"], "found")]
    assert lab.begin(invocations=12)["bisection_id"] not in (first["bisection_id"], second["bisection_id"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"repository": "/src/fake"}, "'/src/fake' is not among the catalogue's repositories of fake"),
        ({"repository": "https://example.org/x.git"}, f"of which it has {LIBRARY_REPOSITORY}"),
        ({"repository": "ftp://example.org/x"}, "is not a source"),
        ({"good": "HEAD~1"}, "is not a source"),
        ({"library": "openssl", "good": "v1+burn=3"}, "is not a branch, tag or hash"),
        ({"good": "main"}, "main is given as both ends"),
        ({"cases": ["*dsa-7*"]}, "no case is called *dsa-7*; there are tlsv1.2_"),
        ({"pool": None}, "a pool is not named; there are arm, pool-a, pool-b"),
        ({"pool": "pool-c"}, "there is no pool pool-c"),
        ({"spec_text": "kind: Nothing"}, "spec.yaml:1:"),
        ({"invocations": 501}, "body.invocations"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_with_what_is_wrong(
    lab: Lab, changes: dict[str, Any], says: str
) -> None:
    assert_problem(lab.api.ask("submitter", "POST", "/bisections", QUESTION | changes), 422, says)
    assert lab.api.store.bisections(5) == []


def test_everybody_may_read_but_only_who_asks_for_runs_may_ask_and_pods_tell_of_their_own_alone(lab: Lab) -> None:
    lab.begin()
    path, line = f"/bisections/{lab.bisection_id}", {"bisection_id": lab.bisection_id, "commits": [a_line_commit(1)]}
    trouble = {"series": 1, "reason": "none"}
    for who, method, what, body in [
        ("builder one", "POST", "/bisections", QUESTION),
        ("dispatcher", "POST", f"{path}/cancel", None),
        ("dispatcher", "POST", f"{path}/resume", None),
        ("submitter", "POST", "/bisections/advance", None),
        ("submitter", "POST", f"{path}/line-trouble", trouble),
        ("submitter", "PUT", f"{path}/line", line),
        ("builder another", "PUT", f"{path}/line", line),
    ]:
        assert_problem(lab.api.ask(who, method, what, body), 403)
    own = f"builder {lab.bisection_id}"
    assert_problem(lab.api.ask(own, "PUT", f"{path}/line", line | {"bisection_id": "x"}), 422, "of bisection x")
    assert_problem(lab.api.http.get("/bisections/none"), 404, "there is no bisection none")
    assert lab.state() == ("asked", "")
