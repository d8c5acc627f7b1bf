"""From a pull request to what is read there: real git, the real routes, a real store, and each forge over HTTP."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.api.calling import API_PREFIX
from kexbench.api.doorbell import Doorbell
from kexbench.client import token_in
from kexbench.domain.repositories import PullRequests
from kexbench.domain.runs import Run, RunEvent, RunState, Trigger
from kexbench.forges import forge_of
from kexbench.forges.words import DryRuns, dry_run_comment
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.watch.announcing import Announcer
from kexbench.watch.git import GitSource
from kexbench.watch.loop import Watcher
from kexbench.watch.telling import SHORT_HASH
from tests.api.cluster import CLUSTER_SPEC, cluster_app
from tests.builders import HOST, a_run, an_invocation, newest_runs
from tests.forges.fake import FakeForge
from tests.forges.fake_gitea import FakeGitea
from tests.forges.fake_github import FakeGitHub
from tests.forges.fake_gitlab import FakeGitLab
from tests.serving import serving
from tests.watch.repositories import Shared, git
from tests.watch.test_watching import BROKEN, CATALOGUE, NIGHTLY, QUICK, TRACKING, Line, a_catalogue

pytestmark = pytest.mark.thorough

PAGES = "https://kexbench.example"
OTHER = CLUSTER_SPEC.replace("batches: 4", "batches: 5")
CONTEXT = f"kexbench/{QUICK}"
Files = dict[str, str | bytes | None]


class Stage:
    """A repository at a forge, with a watcher and an announcer."""

    def __init__(self, folder: Path, store: ClickHouseStore, url: str, fake: FakeForge, forge_url: str) -> None:
        self.shared, self.store, self.fake, self.folder = Shared(folder), store, fake, folder
        (folder / "token").write_text("dispatcher")
        (folder / "forge-token").write_text(fake.token)
        self.forges = {"benchmarks": forge_of(fake.config(forge_url, folder / "forge-token"))}
        self.line = Line(url, token_in(folder / "token"), patience_s=0)
        self.control = self.line
        self.pages = httpx2.Client(base_url=url + API_PREFIX, trust_env=False)
        self.said: list[str] = []
        self.base = self.shared.pushed({NIGHTLY: CLUSTER_SPEC})
        self.source = self.watched("plan")
        self.announcer = self.another_announcer()

    def watched(self, pull_requests: PullRequests) -> GitSource:
        settings = {"planned_branches": ("feature/*",), "pull_requests": pull_requests}
        return GitSource(self.shared.watched("main", "next").model_copy(update=settings), self.folder / "copy")

    def another(self) -> Watcher:
        """As after an end, or on another machine: it knows nothing."""
        return Watcher(self.control, [self.source], lambda: datetime.now(UTC), self.said.append, self.forges)

    def another_announcer(self) -> Announcer:
        return Announcer(self.control, self.forges, PAGES, lambda: datetime.now(UTC), self.said.append)

    def once(self) -> None:
        assert self.another().once()
        assert self.announcer.once()

    def branch_off(self, files: Files, message: str = "a change") -> str:
        """A commit on top of what main was at first."""
        git(self.shared.clone, "checkout", "--quiet", "--detach", self.base)
        return self.shared.commit(files, message)

    def propose(
        self, number: int, files: Files, *, base_branch: str = "main", is_own: bool = True, message: str = "a change"
    ) -> str:
        """A pull request of one commit; of one that is there already, another push."""
        commit = self.branch_off(files, message)
        pull = self.fake.pull(number, commit=commit, base_branch=base_branch)
        for ref in (pull.ref, *([f"refs/heads/{pull.branch}"] if is_own else [])):
            git(self.shared.clone, "push", "--quiet", "--force", "origin", f"HEAD:{ref}")
        self.fake.pulls = [*(one for one in self.fake.pulls if one.number != number), pull]
        return commit

    def comments(self, number: int) -> list[str]:
        """Their headlines."""
        return [body.splitlines()[1].removeprefix("### kexbench: ") for _, body in self.fake.bodies(number)]

    def handled(self) -> list[dict[str, Any]]:
        """The commits that say something, newest first."""
        return list(self.pages.get("/commits").json()["commits"])

    def measure(self, run: Run) -> None:
        """As a cluster does: version 1.1 costs a tenth more, in one of all cases."""
        made = a_run(run.run_id, spec=run.spec_text.replace("pools: [pool-a, pool-b]\n", ""))
        run = run.model_copy(update={"kits": made.kits, "host": HOST, "material": made.material})
        self.store.add_run(run)
        for number in range(6):
            cost = {"fake@1.0": 1000 + number, "fake@1.1": 1100 + number}
            self.store.add_invocation(run, an_invocation(run, number, cpu_ns=cost))
        self.store.add_event(RunEvent(run_id=run.run_id, at=datetime.now(UTC), state=RunState.FINISHED))


@pytest.fixture(params=[FakeGitHub, FakeGitLab, FakeGitea], ids=lambda fake: fake.kind)
def stage(
    request: pytest.FixtureRequest, empty_store: ClickHouseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stage]:
    yield from a_stage(request.param(), empty_store, tmp_path, monkeypatch)


@pytest.fixture
def github(empty_store: ClickHouseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    yield from a_stage(FakeGitHub(), empty_store, tmp_path, monkeypatch)


def a_stage(fake: FakeForge, store: ClickHouseStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(cluster_app(store, folder, doorbell=Doorbell({}))) as url, serving(fake.app()) as forge_url:
        stage = Stage(folder, store, url, fake, forge_url)
        with closing(stage.line), closing(stage.pages):
            assert stage.another().once()
            yield stage
            stage.source.close()


def test_a_pull_request_is_planned_once_and_announced_once_and_nothing_of_it_is_run(stage: Stage) -> None:
    commit = stage.propose(7, {QUICK: CLUSTER_SPEC}, is_own=False)
    stage.once()
    state, words, url = stage.fake.shown(commit)[CONTEXT]
    assert (state, url) == ("success", f"{PAGES}/commits")
    assert "2 cases" in words
    (comment,) = stage.comments(7)
    assert "2 cases" in comment
    written = stage.fake.written()
    assert len(written) == 2
    for _ in range(2):
        assert stage.another().once()
        assert stage.another_announcer().once()
    assert stage.fake.written() == written
    assert len([line for line in stage.said if commit[:12] in line]) == 1
    assert (newest_runs(stage.store, 10), len(stage.handled())) == ([], 1)


def test_another_push_edits_the_comment_until_nothing_is_left_of_it(stage: Stage) -> None:
    stage.propose(7, {QUICK: BROKEN})
    stage.once()
    assert f"`{QUICK}:6`" in stage.fake.bodies(7)[0][1]
    stage.propose(7, {QUICK: CLUSTER_SPEC})
    stage.once()
    (comment,) = stage.comments(7)
    assert "2 cases" in comment
    emptied = stage.propose(7, {"README.md": "words"})
    stage.announcer = stage.another_announcer()
    stage.once()
    ((_, body),) = stage.fake.bodies(7)
    assert dry_run_comment(DryRuns(emptied[:SHORT_HASH], (), ())) in body


def test_a_pull_request_that_changes_no_spec_is_met_with_silence(stage: Stage) -> None:
    stage.propose(7, {"README.md": "words"})
    for _ in range(2):
        stage.once()
    assert (stage.fake.written(), stage.handled()) == ([], [])


def test_the_run_of_a_measured_pull_request_comes_first_and_its_verdict_is_announced(stage: Stage) -> None:
    stage.source.close()
    stage.source = stage.watched("measure")
    own = stage.propose(7, {QUICK: CLUSTER_SPEC})
    stage.propose(8, {QUICK: OTHER}, is_own=False)
    stage.propose(9, {QUICK: OTHER.replace("batches: 5", "batches: 6")}, message="[skip bench] please")
    stage.once()
    (run,) = newest_runs(stage.store, 10)
    assert (run.trigger, run.commit and run.commit.commit, run.spec_path) == (Trigger.PULL_REQUEST, own, QUICK)
    assert stage.pages.get("/queue").json()["runs"][0]["priority"] == 1
    assert stage.fake.shown(own)[CONTEXT][:1] == ("pending",)
    assert [len(stage.comments(number)) for number in (7, 8, 9)] == [0, 1, 1]
    stage.measure(run)
    stage.once()
    verdict = stage.pages.get(f"/runs/{run.run_id}/verdict").json()["sentence"]
    status = f"{verdict}; largest: fake 1.0 (1.0) → fake 1.1 (1.1)"
    assert stage.fake.shown(own)[CONTEXT] == ("failure", status, f"{PAGES}/runs/{run.run_id}")
    assert stage.comments(7) == [verdict]
    assert "`fake 1.0 (1.0)` | `fake 1.1 (1.1)`" in stage.fake.bodies(7)[0][1]


def test_it_is_compared_with_where_it_left_the_branch(github: Stage) -> None:
    proposed = github.propose(7, {QUICK: CLUSTER_SPEC})
    git(github.shared.clone, "checkout", "--quiet", "-B", "main", github.base)
    github.shared.pushed({NIGHTLY: OTHER, "bench-specs/third.yaml": CLUSTER_SPEC})
    github.once()
    assert list(github.fake.shown(proposed)) == [CONTEXT]


def test_a_version_that_it_brings_is_planned_for_the_specs_that_track_it(github: Stage) -> None:
    git(github.shared.clone, "checkout", "--quiet", "-B", "main", github.base)
    github.base = github.shared.pushed({QUICK: TRACKING, CATALOGUE: a_catalogue("1.0", "1.1")})
    github.once()
    proposed = github.propose(7, {CATALOGUE: a_catalogue("1.0", "1.1", "1.2")})
    github.once()
    assert list(github.fake.shown(proposed)) == [CONTEXT]
    (check,) = github.handled()[0]["checks"]
    assert (check["reason"], check["dry_run"]["cases"]) == ("library", 2)


def test_what_is_proposed_to_a_branch_that_is_not_watched_is_left_alone(github: Stage) -> None:
    github.propose(7, {QUICK: CLUSTER_SPEC}, base_branch="release")
    github.propose(8, {QUICK: CLUSTER_SPEC}, base_branch="next")
    github.once()
    assert github.fake.written() == []


def test_a_head_that_the_repository_does_not_have_yet_is_waited_for(github: Stage) -> None:
    commit = github.propose(7, {QUICK: CLUSTER_SPEC})
    github.fake.pulls = [github.fake.pull(7, commit="f" * 40)]
    github.once()
    assert github.handled() == []
    github.fake.pulls = [github.fake.pull(7, commit=commit)]
    github.once()
    assert list(github.fake.shown(commit)) == [CONTEXT]


def test_a_merged_pull_request_has_its_status_alone(github: Stage) -> None:
    commit = github.propose(7, {QUICK: CLUSTER_SPEC})
    github.once()
    comments = github.fake.bodies(7)
    github.fake.pulls = []
    github.shared.push()
    github.once()
    (run,) = newest_runs(github.store, 10)
    assert run.trigger is Trigger.COMMIT
    assert github.fake.shown(commit)[CONTEXT][0] == "pending"
    github.measure(run)
    github.once()
    assert github.fake.shown(commit)[CONTEXT][0] == "failure"
    assert github.fake.bodies(7) == comments


def test_a_commit_that_is_measured_already_is_not_announced_as_if_it_were_not(github: Stage) -> None:
    commit = github.branch_off({QUICK: CLUSTER_SPEC})
    git(github.shared.clone, "push", "--quiet", "origin", f"{github.base}:refs/heads/next")
    github.once()
    github.shared.push("next")
    github.once()
    github.fake.pulls = [github.fake.pull(7, commit=commit)]
    git(github.shared.clone, "push", "--quiet", "origin", "HEAD:refs/pull/7/head")
    github.once()
    (run,) = [run for run in newest_runs(github.store, 10) if run.spec_path == QUICK]
    (check,) = github.handled()[0]["checks"]
    assert (check["run_id"], check["dry_run"]) == (run.run_id, None)
    assert github.fake.shown(commit)[CONTEXT][0] == "pending"


def test_a_planned_branch_is_planned_from_where_it_left_a_watched_one(github: Stage) -> None:
    commit = github.branch_off({QUICK: CLUSTER_SPEC})
    github.shared.push("refs/heads/feature/faster")
    for _ in range(2):
        github.once()
    (listed,) = github.handled()
    assert (listed["commit"]["branch"], listed["commit"]["commit"]) == ("feature/faster", commit)
    (check,) = listed["checks"]
    assert (check["path"], check["reason"], check["run_id"]) == (QUICK, "spec", None)
    assert check["dry_run"]["minutes"].keys() == {"pool-a", "pool-b"}
    assert (newest_runs(github.store, 10), list(github.fake.shown(commit))) == ([], [CONTEXT])
    assert github.fake.comments == {}


def place_of(fault: dict[str, Any]) -> str:
    return f"{fault['file']}:{fault['line']}:{fault['column']}"


def test_without_a_forge_branches_are_planned_as_well(github: Stage) -> None:
    github.forges = {}
    github.branch_off({QUICK: BROKEN})
    github.shared.push("refs/heads/feature/faster")
    assert github.another().once()
    (check,) = github.handled()[0]["checks"]
    assert (check["dry_run"], place_of(check["faults"][0])) == (None, f"{QUICK}:6:17")


def test_a_forge_that_is_away_holds_up_no_branch_and_is_reported_once(
    github: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    github.propose(7, {QUICK: CLUSTER_SPEC})
    github.branch_off({QUICK: OTHER})
    github.shared.push()
    watcher = github.another()
    github.fake.refuse("/pulls", 503, "Unicorn!")
    assert not watcher.once()
    assert watcher.once(), "it is asked again when it may be back"
    assert github.handled()[0]["commit"]["branch"] == "main"
    assert [run.trigger for run in newest_runs(github.store, 10)] == [Trigger.COMMIT]
    assert len([record for record in caplog.records if "503" in record.message]) == 1
    github.once()
    assert len(github.comments(7)) == 1


@pytest.mark.parametrize("answers", [1, 2, 3, 4])
def test_a_watcher_that_is_killed_anywhere_has_the_rest_planned_by_the_next_one(github: Stage, answers: int) -> None:
    first = github.propose(7, {QUICK: CLUSTER_SPEC})
    second = github.propose(8, {QUICK: BROKEN})
    github.line.answers_left = answers
    assert not github.another().once()
    github.line.answers_left = None
    for _ in range(2):
        github.once()
    assert sorted(one["commit"]["commit"] for one in github.handled()) == sorted([first, second])
    assert [len(github.comments(number)) for number in (7, 8)] == [1, 1]


@pytest.mark.thorough
def test_of_a_hundred_specs_all_are_planned_and_of_more_the_rest_is_a_fault(
    github: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.forges.fake.PAGE_MAX", 100)
    specs: Files = {f"bench-specs/many/{number:03}.yaml": CLUSTER_SPEC for number in range(103)}
    commit = github.propose(7, specs)
    github.once()
    shown = github.fake.shown(commit)
    assert [state for state, *_ in shown.values()].count("success") == 100
    assert shown["kexbench/bench-specs/many/100.yaml"][0] == "error"
    (headline,) = github.comments(7)
    assert {"100 specs", "200 cases"} <= set(re.findall(r"[0-9]+ (?:specs|cases)", headline))
    assert "and 80 more" in github.fake.bodies(7)[0][1]
    assert len(github.fake.bodies(7)) == 1
