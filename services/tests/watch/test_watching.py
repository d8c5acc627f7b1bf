"""From a commit that is pushed to a run that names it, once: real git, the real routes, a real store."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.api.calling import API_PREFIX
from kexbench.api.commit_models import CommitView
from kexbench.api.doorbell import Doorbell
from kexbench.client import Answer, ApiClient, Unreachable, token_in
from kexbench.domain.commits import Check
from kexbench.domain.runs import Run, Trigger
from kexbench.queue.troubles import Troubles
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.watch.git import GitSource
from kexbench.watch.loop import Watcher
from tests.api.cluster import CLUSTER_SPEC, cluster_app
from tests.builders import newest_runs
from tests.serving import serving
from tests.watch.repositories import Shared, git

TRACKING = CLUSTER_SPEC.replace("[1.0, 1.1]", "tracked").replace("example", "tracking")
BROKEN = CLUSTER_SPEC.replace("pool-b", "pool-c")
QUICK, NIGHTLY = "bench-specs/quick.yaml", "bench-specs/nightly.yaml"
CATALOGUE = "bench-specs/libraries.yaml"


def a_catalogue(*versions: str) -> str:
    entries = "".join(f'    - {{source: "{version}", version: "{version}"}}\n' for version in versions)
    return f"apiVersion: kexbench.dev/v1\nkind: Catalogue\nlibraries:\n  fake:\n{entries}"


class Line(ApiClient):
    """The line to the API; it is cut after so many answers, which is how a watcher that is killed looks from there."""

    answers_left: int | None = None

    def get(self, kind: type[Answer], path: str) -> Answer:
        self._ask_once()
        return super().get(kind, path)

    def send(self, *words: Any, **more: Any) -> httpx2.Response:
        self._ask_once()
        return super().send(*words, **more)

    def _ask_once(self) -> None:
        if self.answers_left == 0:
            raise Unreachable("cut")
        if self.answers_left is not None:
            self.answers_left -= 1


class Stage:
    """A repository that is watched."""

    def __init__(self, folder: Path, store: ClickHouseStore, url: str, doorbell: Doorbell) -> None:
        self.shared, self.store, self.doorbell = Shared(folder), store, doorbell
        (folder / "token").write_text("dispatcher")
        self.line = Line(url, token_in(folder / "token"), patience_s=0)
        self.control = self.line
        self.pages = httpx2.Client(base_url=url + API_PREFIX, trust_env=False)
        self.source = GitSource(self.shared.watched("main", "next"), folder / "copy")
        self.watcher = self.another()

    def another(self) -> Watcher:
        """As after an end, or on another machine: it knows nothing."""
        return Watcher(self.control, [self.source], lambda: datetime.now(UTC))

    def runs(self) -> list[Run]:
        """In the order they were queued."""
        return newest_runs(self.store, 100)[::-1]

    def measured(self) -> list[tuple[str, str | None]]:
        """Commit and path of each run."""
        return sorted((run.commit.commit, run.spec_path) for run in self.runs() if run.commit)

    def commits(self) -> list[dict[str, Any]]:
        """Those that say something."""
        return list(self.pages.get("/commits").json()["commits"])

    def checks(self) -> list[Check]:
        """Of the newest commit that says something."""
        found = CommitView.model_validate(self.commits()[0])
        return [Check.model_validate(view.model_dump(include=set(Check.model_fields))) for view in found.checks]


@pytest.fixture
def stage(empty_store: ClickHouseStore, tmp_path: Path) -> Iterator[Stage]:
    doorbell = Doorbell({})
    with serving(cluster_app(empty_store, tmp_path, doorbell=doorbell)) as url:
        stage = Stage(tmp_path, empty_store, url, doorbell)
        with closing(stage.source), closing(stage.line), closing(stage.pages):
            yield stage


def test_a_spec_that_is_pushed_is_a_run_that_names_its_commit_and_pushing_the_same_again_causes_nothing(
    stage: Stage,
) -> None:
    assert stage.watcher.once()
    commit = stage.shared.pushed({QUICK: CLUSTER_SPEC}, "Measure two pools\n\nfor a start")
    assert stage.watcher.once()
    (run,) = stage.runs()
    assert run.commit is not None
    assert (run.trigger, run.commit.commit, run.spec_path) == (Trigger.COMMIT, commit, QUICK)
    assert (run.commit.title, run.commit.author, run.spec_text) == ("Measure two pools", "Ada Example", CLUSTER_SPEC)
    assert stage.checks() == [Check.model_validate({"path": QUICK, "reason": "spec", "run_id": run.run_id})]
    summary = stage.pages.get(f"/runs/{run.run_id}").json()["summary"]
    assert summary["commit"]["commit"] == commit
    stage.shared.push()
    git(stage.shared.clone, "push", "--quiet", "origin", "HEAD:next")
    for watcher in (stage.watcher, stage.another()):
        assert watcher.once()
    assert [one.run_id for one in stage.runs()] == [run.run_id]


def test_what_was_there_before_it_was_watched_is_history(stage: Stage) -> None:
    stage.shared.pushed({QUICK: CLUSTER_SPEC})
    assert stage.watcher.once()
    assert stage.runs() == []
    commit = stage.shared.pushed({QUICK: CLUSTER_SPEC.replace("batches: 4", "batches: 5")})
    stage.watcher.once()
    assert stage.measured() == [(commit, QUICK)]


def test_of_several_commits_in_one_push_each_has_its_own_specs_measured(stage: Stage) -> None:
    stage.watcher.once()
    first = stage.shared.commit({QUICK: CLUSTER_SPEC})
    stage.shared.commit({"README.md": "words"})
    third = stage.shared.pushed({NIGHTLY: CLUSTER_SPEC})
    stage.watcher.once()
    assert stage.measured() == sorted([(first, QUICK), (third, NIGHTLY)])


def test_a_broken_spec_names_its_file_and_line_and_holds_up_no_other(stage: Stage) -> None:
    stage.watcher.once()
    commit = stage.shared.pushed({"bench-specs/broken.yaml": BROKEN, QUICK: CLUSTER_SPEC})
    stage.watcher.once()
    broken, quick = stage.checks()
    assert broken.run_id is None
    assert str(broken.faults[0]).startswith("bench-specs/broken.yaml:6:")
    assert "there is no pool 'pool-c'" in broken.faults[0].text
    assert stage.measured() == [(commit, QUICK)]
    assert quick.run_id == stage.runs()[0].run_id


def test_a_spec_that_no_cluster_can_run_says_why(stage: Stage) -> None:
    stage.watcher.once()
    stage.shared.pushed({QUICK: CLUSTER_SPEC.replace("pool-b", "arm")})
    stage.watcher.once()
    (check,) = stage.checks()
    assert str(check.faults[0]).startswith(f"{QUICK}:1:1: the pools have different architectures")
    assert stage.runs() == []


def test_a_version_that_is_added_to_the_catalogue_causes_exactly_the_comparisons(stage: Stage) -> None:
    files: dict[str, str | bytes | None] = {
        CATALOGUE: a_catalogue("1.0", "1.1"),
        QUICK: CLUSTER_SPEC,
        "bench-specs/tracking.yaml": TRACKING,
        "bench-specs/broken.yaml": BROKEN,
    }
    stage.shared.pushed(files)
    stage.watcher.once()
    commit = stage.shared.pushed({CATALOGUE: a_catalogue("1.0", "1.1", "1.2")}, "fake 1.2 is out")
    stage.watcher.once()
    (run,) = stage.runs()
    assert (run.commit and run.commit.commit, run.spec_path) == (commit, "bench-specs/tracking.yaml")
    assert run.trigger is Trigger.LIBRARY
    assert [subject.reference for subject in run.plan.subjects] == ["fake@1.1", "fake@1.2"]
    (check,) = stage.checks()
    assert (check.reason, check.run_id) == ("library", run.run_id)


def test_a_broken_catalogue_names_its_file_and_line(stage: Stage) -> None:
    stage.shared.pushed({CATALOGUE: a_catalogue("1.0"), QUICK: TRACKING})
    stage.watcher.once()
    stage.shared.pushed({CATALOGUE: a_catalogue("1.0", "1.0")})
    stage.watcher.once()
    (check,) = stage.checks()
    assert (check.path, check.run_id) == (CATALOGUE, None)
    assert str(check.faults[0]).startswith(f"{CATALOGUE}:6:")


def test_a_commit_that_asks_for_no_benchmark_gets_none_and_says_so(stage: Stage) -> None:
    stage.watcher.once()
    stage.shared.pushed({QUICK: CLUSTER_SPEC}, "Tidy\n\n[skip bench]")
    stage.watcher.once()
    assert stage.runs() == []
    (handled,) = stage.commits()
    assert (handled["checks"], handled["note"]) == ([], "[skip bench] in its message")


@pytest.mark.parametrize("answers", range(1, 6))
def test_a_watcher_that_ends_anywhere_begins_again_and_every_run_is_begun_once(stage: Stage, answers: int) -> None:
    """Three specs in two commits are six answers: heads, a run, the commit, two runs, the commit."""
    stage.watcher.once()
    first = stage.shared.commit({QUICK: CLUSTER_SPEC})
    second = stage.shared.pushed({NIGHTLY: CLUSTER_SPEC, "bench-specs/third.yaml": CLUSTER_SPEC})
    stage.line.answers_left = answers
    assert not stage.watcher.once()
    stage.line.answers_left = None
    for _ in range(2):
        assert stage.another().once()
    assert stage.measured() == sorted([(first, QUICK), (second, NIGHTLY), (second, "bench-specs/third.yaml")])
    assert all(len(stage.store.events(run.run_id)) == 1 for run in stage.runs())


def test_two_watchers_begin_every_run_once(stage: Stage) -> None:
    stage.watcher.once()
    other = stage.another()
    commits = []
    for number in range(4):
        commits.append(stage.shared.pushed({QUICK: CLUSTER_SPEC.replace("batches: 4", f"batches: {number + 5}")}))
        assert stage.watcher.once()
        assert other.once()
    assert stage.measured() == sorted((commit, QUICK) for commit in commits)


def test_rewritten_history_has_new_commits_measured_and_old_ones_not_again(stage: Stage) -> None:
    base = stage.shared.pushed({"README.md": "words"})
    stage.watcher.once()
    kept = stage.shared.pushed({QUICK: CLUSTER_SPEC})
    lost = stage.shared.pushed({NIGHTLY: CLUSTER_SPEC})
    stage.watcher.once()
    git(stage.shared.clone, "reset", "--quiet", "--hard", kept)
    new = stage.shared.commit({NIGHTLY: CLUSTER_SPEC.replace("batches: 4", "batches: 5")})
    stage.shared.push(force=True)
    for _ in range(2):
        stage.watcher.once()
    assert stage.measured() == sorted([(kept, QUICK), (lost, NIGHTLY), (new, NIGHTLY)])
    git(stage.shared.clone, "reset", "--quiet", "--hard", base)
    stage.shared.push(force=True)
    stage.watcher.once()
    assert len(stage.runs()) == 3


def test_a_repository_that_can_not_be_reached_holds_up_no_other_and_is_reported_once(
    stage: Stage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    away = stage.shared.watched(name="away").model_copy(update={"url": str(tmp_path / "away.git")})
    with closing(GitSource(away, tmp_path / "copy-of-away")) as gone:
        troubles = Troubles()
        watcher = Watcher(
            stage.control, [gone, stage.source], lambda: datetime.now(UTC), lambda _: None, troubles=troubles
        )
        assert not watcher.once()
        commit = stage.shared.pushed({QUICK: CLUSTER_SPEC})
        assert not watcher.once()
        assert stage.measured() == [(commit, QUICK)]
        (trouble,) = troubles.now()
        assert trouble.part == "repository away"
        assert "is not a git repository; remedy: correct its address" in trouble.reason
        assert len([record for record in caplog.records if "is not a git repository" in record.message]) == 1
        (tmp_path / "away.git").symlink_to(stage.shared.bare)
        assert watcher.once()
        assert troubles.now() == []


def test_a_webhook_that_rings_has_its_repository_looked_at_once(stage: Stage) -> None:
    stage.watcher.once()
    commit = stage.shared.pushed({QUICK: CLUSTER_SPEC})
    stage.watcher.listen()
    assert stage.measured() == []
    stage.doorbell.ring("another")
    stage.watcher.listen()
    assert stage.measured() == []
    stage.doorbell.ring("benchmarks")
    stage.watcher.listen()
    assert stage.measured() == [(commit, QUICK)]
    stage.shared.pushed({NIGHTLY: CLUSTER_SPEC})
    stage.watcher.listen()
    assert stage.measured() == [(commit, QUICK)]


def test_a_clock_that_is_set_back_does_not_lose_how_far_a_branch_was_looked_through(stage: Stage) -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    times = iter(now - timedelta(hours=hour) for hour in range(100))
    watcher = Watcher(stage.control, [stage.source], lambda: next(times))
    watcher.once()
    head = ""
    for number in range(3):
        head = stage.shared.pushed({QUICK: CLUSTER_SPEC.replace("batches: 4", f"batches: {number + 5}")})
        watcher.once()
    assert stage.control.heads("benchmarks")["main"].commit == head


@pytest.mark.long
def test_two_hundred_specs_in_one_commit_are_two_hundred_runs(stage: Stage) -> None:
    stage.watcher.once()
    specs: dict[str, str | bytes | None] = {f"bench-specs/{number:04d}.yaml": CLUSTER_SPEC for number in range(200)}
    specs["bench-specs/0100.yaml"] = BROKEN
    commit = stage.shared.pushed(specs)
    assert stage.watcher.once()
    checks = stage.checks()
    assert (len(checks), [check.path for check in checks if check.faults]) == (200, ["bench-specs/0100.yaml"])
    assert len({check.run_id for check in checks if check.run_id}) == 199
    assert {run.commit.commit for run in stage.runs() if run.commit} == {commit}
