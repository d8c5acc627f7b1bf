"""Bisections that a service sees to, with a cluster that measures what a test says: whole ones, with restarts at every
step, two that advance them, commits that do not build, trouble, cancelling and resuming."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.api.calling import API_PREFIX
from kexbench.domain.instruments import Instrument
from kexbench.domain.runs import Run, RunEvent, RunReason, RunState, Trigger
from kexbench.domain.samples import Invocation, Metric, Sample
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import LIBRARY_REPOSITORY, ClusterApi, cluster_api, cluster_app
from tests.api.conftest import ClientOf, assert_problem
from tests.builders import HOST, a_kit, an_invocation, an_outcome, newest_runs

pytestmark = pytest.mark.thorough

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
class Stage:
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

    def searching(self, **changes: Any) -> "Stage":
        """With its commits listed."""
        self.begin(**changes)
        line = {"bisection_id": self.bisection_id, "commits": [a_line_commit(n) for n in range(self.commits)]}
        answer = self.api.ask(f"builder {self.bisection_id}", "PUT", f"/bisections/{self.bisection_id}/line", line)
        assert answer.status_code == 204, answer.text
        return self

    def restart(self) -> None:
        """Another process, which knows what is stored and nothing else."""
        self.api.http = self.client_of(cluster_app(self.api.store, self.api.folder))
        self.api.http.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")

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

    def control(self, control: str) -> httpx2.Response:
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
                costs = {name: self.cost(commit, number, run) for name, commit in numbers.items()}
                invocation = an_invocation(started, number, cpu_ns=costs, case_id=case.case_id)
                found.append(invocation if run.plan.measure.instrument is Instrument.TIME else counts_of(invocation))
        self.api.store.add_invocations(started, found, HOST)
        self.become(run, RunState.FINISHED)

    def cost(self, commit: int, invocation: int, run: Run) -> float:
        """With noise that is the same each time."""
        size = 0.0002 if run.plan.measure.instrument is Instrument.TIME else 0.000002
        noise = size * ((7 * invocation + 3 * commit) % 5 - 2)
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


def counts_of(invocation: Invocation) -> Invocation:
    """An invocation that counted what the other one timed."""
    counted = [sample for sample in invocation.samples if sample.metric is Metric.CPU_NS]
    metric = Metric.COUNTED_INSTRUCTIONS
    return invocation.model_copy(
        update={
            "samples": tuple(
                Sample(subject=sample.subject, metric=metric, values=sample.values[:1]) for sample in counted
            )
        }
    )


def a_line_commit(number: int) -> dict[str, str]:
    author = "Ada <ada@example.org>"
    return {"hash": f"{number:040x}", "author": author, "date": "2026-01-01", "subject": f"Change {number}"}


@pytest.fixture
def stage(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> Stage:
    return Stage(cluster_api(empty_store, client_of, tmp_path), client_of)


def test_a_commit_among_64_is_found_whoever_advances_it_and_however_often_it_is_begun_anew(stage: Stage) -> None:
    stage.commits, stage.first_bad, stage.broken = 64, 41, (31, 32, 48)
    found = stage.searching().search()
    assert found["summary"]["state"] == "found"
    answer = found["answer"]
    (commit,) = answer["commits"]
    assert (commit["number"], commit["subject"], commit["fails"]) == (41, "Change 41", None)
    assert found["summary"]["detail"] == answer["says"]
    assert commit["hash"][:12] in answer["says"]
    assert answer["probability"] >= 0.99
    assert answer["builds"] <= 10
    assert {one["number"] for one in answer["failed"]} <= {31, 32, 48}
    assert answer["failed"], "the middle is tried first"
    assert answer["failed"][0]["fails"] == "make: it fails"

    runs = [stage.api.stored(one["run_id"]) for one in found["runs"]]
    assert {run.trigger for run in runs} == {Trigger.BISECTION}
    assert {run.plan.pools for run in runs} == {("pool-a",)}
    assert len(newest_runs(stage.api.store, 100)) == len(runs), "no step is measured twice"
    states = [[event.state for event in stage.api.store.events(run.run_id)] for run in runs]
    assert all(found.count(RunState.QUEUED) == 1 for found in states)
    assert [one["number"] for one in found["runs"]] == list(range(len(runs)))
    stage.advance()
    assert stage.detail() == found


@pytest.mark.long
def test_by_counts_each_commit_is_counted_alone_and_once(stage: Stage) -> None:
    stage.commits, stage.first_bad, stage.step = 64, 41, 1.01
    found = stage.searching(instrument="instructions", invocations=None).search()
    assert found["summary"]["state"] == "found"
    assert found["answer"]["instrument"] == "instructions"
    assert [commit["number"] for commit in found["answer"]["commits"]] == [41]
    assert found["answer"]["builds"] <= 9
    runs = [stage.api.stored(run["run_id"]) for run in found["runs"]]
    assert [len(run.plan.subjects) for run in runs] == [2] + [1] * (len(runs) - 1)
    assert {run.plan.measure.invocations for run in runs} == {2}
    assert {run.plan.measure.instrument for run in runs} == {Instrument.INSTRUCTIONS}
    between = [run["commit"] for run in found["runs"][1:]]
    assert len(set(between)) == len(between), "no commit is counted again"
    (step,) = found["answer"]["steps"]
    assert step["ratio"] == pytest.approx(1.01, abs=1e-5)
    timed = stage.begin(builds=12)
    assert timed["bisection_id"] != found["summary"]["bisection_id"], "it is another question"


def test_what_is_known_of_each_commit_is_listed_in_their_order(stage: Stage) -> None:
    stage.broken = (8,)
    found = stage.searching().search()
    numbers = [one["number"] for one in found["commits"]]
    assert (numbers[0], numbers[-1], numbers) == (0, 15, sorted(numbers))
    assert sum(one["probability"] for one in found["commits"]) > 0.98
    reached = [one["reached"] for one in found["commits"]]
    assert all(one <= other for one, other in pairwise(reached))
    assert (reached[0], round(reached[-1], 9)) == (0, 1)
    by_number = {one["number"]: one for one in found["commits"]}
    assert by_number[8]["fails"] == "make: it fails"
    assert max(one["measurements"] for one in found["commits"]) >= 1
    (step,) = found["steps"]
    assert (step["changed"], round(step["ratio"], 3)) == (True, 1.02)


def test_ends_that_cost_the_same_cannot_be_distinguished_and_nothing_between_them_is_built(stage: Stage) -> None:
    stage.step = 1.0
    found = stage.searching().search()
    assert (found["summary"]["state"], len(found["runs"])) == ("cannot say", 1)
    assert (found["answer"]["verdict"], found["answer"]["says"]) == ("cannot say", found["summary"]["detail"])


@pytest.mark.long
def test_more_builds_go_on_from_what_a_spent_search_knows(stage: Stage) -> None:
    stage.commits = 64
    spent = stage.searching(builds=3).search()
    assert spent["summary"]["state"] == "cannot say"
    again = stage.begin(builds=12)
    assert (again["bisection_id"], again["state"]) == (spent["summary"]["bisection_id"], "searching")
    found = stage.search()
    assert found["summary"]["state"] == "found"
    assert [one["run_id"] for one in found["runs"]][: len(spent["runs"])] == [one["run_id"] for one in spent["runs"]]


def test_ends_that_give_no_number_could_not_be_measured(stage: Stage) -> None:
    stage.searching().advance()
    run = stage.newest()
    good, bad = (subject.reference for subject in run.plan.subjects)
    started = run.model_copy(update={"kits": {name: a_kit(name, version="1.0") for name in (good, bad)}})
    stage.api.store.add_run(started)
    outcomes = [an_outcome(good, reason="no such group")]
    (case,) = run.plan.cases
    stage.api.store.add_invocation(started, an_invocation(started, 0, outcomes=outcomes, case_id=case.case_id), HOST)
    stage.become(run, RunState.FINISHED)
    stage.advance()
    state, detail = stage.state()
    assert state == "not measured"
    assert detail == f"the ends have no result in any case: {good}: no such group"


@pytest.mark.long
@pytest.mark.parametrize("reason", [RunReason.DISK_FULL, RunReason.SOURCES_UNAVAILABLE])
def test_a_run_of_a_commit_that_fails_for_want_of_anything_but_its_sources_waits_until_it_is_resumed(
    stage: Stage, reason: RunReason
) -> None:
    stage.searching().advance()
    stage.measure(stage.newest())
    stage.advance()
    run = stage.newest()
    between = run.plan.subjects[2].reference
    stage.become(run, RunState.FAILED, f"{between}: {reason}", reason, (between,))
    stage.advance()
    assert stage.state() == ("waiting", f"run {run.run_id} is failed: {between}: {reason}")
    assert stage.detail()["controls"] == ["cancel", "resume"]
    assert stage.control("resume").json()["state"] == "searching"
    assert stage.newest().run_id == run.run_id
    assert [event.state for event in stage.api.store.events(run.run_id)][-1] is RunState.QUEUED
    assert stage.search()["summary"]["state"] == "found"


def test_an_end_that_does_not_build_is_reported_and_waits(stage: Stage) -> None:
    stage.broken = (0,)
    found = stage.searching().search()
    assert found["summary"]["state"] == "waiting"
    assert found["summary"]["detail"].endswith("is failed: make: it fails")
    assert len(found["runs"]) == 1


def test_a_bisection_that_is_cancelled_asks_for_nothing_more_until_it_is_resumed(stage: Stage) -> None:
    stage.searching().advance()
    stage.measure(stage.newest())
    stage.advance()
    run = stage.newest()
    assert stage.control("cancel").json()["state"] == "cancelled"
    assert stage.api.store.events(run.run_id)[-1].state is RunState.CANCELLING
    assert_problem(stage.control("cancel"), 409, "is cancelled: there is nothing to cancel")
    assert_problem(stage.control("resume"), 409, "is still being cancelled")
    stage.become(run, RunState.CANCELLED)
    stage.advance()
    assert (stage.state(), len(stage.detail()["runs"])) == (("cancelled", "cancelled by ci:pipeline"), 2)
    assert stage.control("resume").status_code == 202
    assert stage.search()["summary"]["state"] == "found"
    assert_problem(stage.control("resume"), 409, "is found: there is nothing to resume")


def test_commits_are_looked_for_until_they_are_listed_and_after_trouble_once_somebody_resumes(stage: Stage) -> None:
    bisection_id = stage.begin()["bisection_id"]
    assert stage.state() == ("asked", "")
    (wanted,) = stage.advance()
    assert wanted == {
        "bisection_id": bisection_id,
        "series": 1,
        "good": f"fake@git:{LIBRARY_REPOSITORY}#v1",
        "bad": f"fake@git:{LIBRARY_REPOSITORY}#main",
        "pool": "pool-a",
    }
    trouble, path = {"series": 1, "reason": "no branch main"}, f"/bisections/{bisection_id}/line-trouble"
    assert stage.api.ask("dispatcher", "POST", path, trouble).status_code == 204
    assert stage.state() == ("waiting", "no branch main")
    assert stage.advance() == []
    assert stage.control("resume").json()["state"] == "asked"
    assert [one["series"] for one in stage.advance()] == [2]
    stage.api.ask("dispatcher", "POST", path, trouble)
    assert stage.state() == ("asked", ""), "what is reported late of an earlier series changes nothing"
    assert stage.searching().search()["summary"]["state"] == "found"


def test_the_first_line_that_is_listed_stays_and_one_commit_is_no_line(stage: Stage) -> None:
    stage.commits = 1
    stage.searching().advance()
    stage.commits = 16
    stage.searching().advance()
    assert stage.detail()["searched"] == 1
    assert stage.state() == ("not measured", "v1 and main are the same commit")


def test_the_same_question_is_the_same_bisection_unless_it_is_asked_anew_after_its_end(stage: Stage) -> None:
    first = stage.begin()
    assert stage.begin(anew=True)["bisection_id"] == first["bisection_id"], "it has not ended"
    stage.searching().search()
    assert stage.begin()["bisection_id"] == first["bisection_id"]
    second = stage.begin(anew=True)
    assert (second["bisection_id"] != first["bisection_id"], second["state"]) == (True, "asked")
    assert stage.begin()["bisection_id"] == second["bisection_id"]
    newest = stage.api.http.get("/bisections", params={"limit": 1}).json()
    rest = stage.api.http.get("/bisections", params={"before": newest["next_before"]}).json()
    listed = [(one["bisection_id"], one["state"]) for one in [*newest["bisections"], *rest["bisections"]]]
    assert listed == [(second["bisection_id"], "asked"), (first["bisection_id"], "found")]
    assert stage.begin(invocations=12)["bisection_id"] not in (first["bisection_id"], second["bisection_id"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"repository": "/src/fake"}, "'/src/fake' is not a repository of fake in the catalogue"),
        ({"repository": "https://example.org/x.git"}, f"it lists {LIBRARY_REPOSITORY}"),
        ({"repository": "ftp://example.org/x"}, "is not a source"),
        ({"good": "HEAD~1"}, "is not a source"),
        ({"library": "openssl", "good": "v1+burn=3"}, "is not a branch, tag or hash"),
        ({"good": "main"}, "main is given as both ends"),
        ({"cases": ["*dsa-7*"]}, "no case is called *dsa-7*; there are tlsv1.2_"),
        ({"pool": None}, "no pool is named; there are arm, pool-a, pool-b"),
        ({"pool": "pool-c"}, "there is no pool pool-c"),
        ({"spec_text": "kind: Nothing"}, "spec.yaml:1:"),
        ({"invocations": 501}, "body.invocations"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_with_what_is_wrong(
    stage: Stage, changes: dict[str, Any], says: str
) -> None:
    assert_problem(stage.api.ask("submitter", "POST", "/bisections", QUESTION | changes), 422, says)
    assert stage.api.store.bisections(5) == []


def test_everybody_may_read_but_only_who_asks_for_runs_may_ask_and_pods_tell_of_their_own_alone(stage: Stage) -> None:
    stage.begin()
    path, line = (
        f"/bisections/{stage.bisection_id}",
        {"bisection_id": stage.bisection_id, "commits": [a_line_commit(1)]},
    )
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
        assert_problem(stage.api.ask(who, method, what, body), 403)
    own = f"builder {stage.bisection_id}"
    assert_problem(stage.api.ask(own, "PUT", f"{path}/line", line | {"bisection_id": "x"}), 422, "of bisection x")
    assert_problem(stage.api.http.get("/bisections/none"), 404, "there is no bisection none")
    assert stage.state() == ("asked", "")
