"""From a commit of a library to a run of it: real git, the real routes, a real store."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kexbench.api.doorbell import Doorbell
from kexbench.client import token_in
from kexbench.domain.runs import Run, RunReason, RunState, Trigger
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.spec import Catalogue
from kexbench.queue.runs import record
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.watch.following import Follower
from kexbench.watch.git import GitSource
from kexbench.watch.loop import Watcher
from tests.api.cluster import CLUSTER_SPEC, cluster_app
from tests.builders import a_kit, newest_runs
from tests.serving import serving
from tests.watch.library import Library
from tests.watch.repositories import Shared
from tests.watch.test_watching import Line

PATH = "bench-specs/master.yaml"
FOLLOWING = "follow: {{ library: fake, repository: {address}, branch: master, every: {every} }}"


class Stage:
    """A watched repository with a spec that follows a library."""

    def __init__(self, folder: Path, store: ClickHouseStore, url: str) -> None:
        self.folder, self.store = folder, store
        self.shared, self.library = Shared(folder), Library(folder)
        (folder / "token").write_text("dispatcher")
        self.line = Line(url, token_in(folder / "token"), patience_s=0)
        self.source = GitSource(self.shared.watched(), folder / "copy")
        self.said: list[str] = []
        self.watcher = self.another()

    def catalogue_text(self) -> str:
        return (
            "apiVersion: kexbench.dev/v1\nkind: Catalogue\nlibraries: {}\n"
            f"repositories:\n  fake: [{self.library.bare}]\n"
        )

    def catalogue(self) -> Catalogue:
        return read_catalogue(self.catalogue_text(), "libraries.yaml")

    def another(self) -> Watcher:
        """As after an end, or on another machine: it knows nothing."""
        control = self.line
        follower = Follower(
            control, self.folder / "followed", self.catalogue, lambda: datetime.now(UTC), self.said.append, pace_s=0
        )
        return Watcher(control, [self.source], lambda: datetime.now(UTC), self.said.append, follower=follower)

    def follow(self, every: int = 1) -> None:
        """Push the spec, after which the branch is looked at for the first time."""
        self.watcher.once()
        follow = FOLLOWING.format(address=self.library.bare, every=every)
        spec = CLUSTER_SPEC.replace("subjects:\n  - fake: [1.0, 1.1]", follow)
        self.shared.pushed({PATH: spec, "bench-specs/libraries.yaml": self.catalogue_text()})
        assert self.watcher.once(), self.said

    def runs(self) -> list[Run]:
        """In the order they were queued."""
        return sorted(newest_runs(self.store, 100), key=lambda run: self.store.events(run.run_id)[0].at)

    def compared(self) -> list[tuple[str, ...]]:
        """The commits of each run."""
        return [tuple(one.source.partition("#")[2] for one in run.plan.subjects) for run in self.runs()]

    def build(self) -> None:
        """What is queued gets its kits, and finishes."""
        for run in self.runs():
            if not run.is_started and self.store.events(run.run_id)[-1].state is RunState.QUEUED:
                kits = {one.reference: a_kit(one.reference, version="1.0") for one in run.plan.subjects}
                self.store.add_run(run.model_copy(update={"kits": kits}))
                record(self.store, run.run_id, RunState.FINISHED, "")

    def fail(self, run: Run, reference: str, reason: RunReason | None = RunReason.UNBUILDABLE) -> None:
        record(self.store, run.run_id, RunState.FAILED, f"{reference}: it failed", reason, (reference,))

    def measure_all(self) -> None:
        """Until nothing new is asked for."""
        for _ in range(20):
            known = len(self.runs())
            self.build()
            assert self.watcher.once(), self.said
            if len(self.runs()) == known:
                return
        raise AssertionError("it never ends")


@pytest.fixture
def stage(empty_store: ClickHouseStore, tmp_path: Path) -> Iterator[Stage]:
    with serving(cluster_app(empty_store, tmp_path, doorbell=Doorbell({}))) as url:
        stage = Stage(tmp_path, empty_store, url)
        with closing(stage.source), closing(stage.line):
            yield stage


def test_each_new_commit_is_measured_beside_the_one_before_it_and_what_was_there_is_history(stage: Stage) -> None:
    old = stage.library.line(None, 3)
    stage.follow()
    stage.measure_all()
    assert stage.runs() == []
    new = stage.library.line(old[-1], 3)
    stage.measure_all()
    assert stage.compared() == [(old[-1], new[0]), (new[0], new[1]), (new[1], new[2])]
    run = stage.runs()[0]
    assert (run.trigger, run.spec_path) == (Trigger.LIBRARY, PATH)
    assert stage.store.events(run.run_id)[0].detail == f"fake master, commit {new[0][:12]}: Change 4"


def test_every_third_commit_is_counted_from_where_following_began_whatever_restarts(stage: Stage) -> None:
    base = stage.library.line(None, 5)[-1]
    stage.follow(every=3)
    commits: list[str] = []
    for count in (1, 1, 2, 5):
        commits += stage.library.line((commits or [base])[-1], count)
        stage.watcher = stage.another()
        stage.measure_all()
    assert stage.compared() == [(base, commits[2]), (commits[2], commits[5]), (commits[5], commits[8])]


def test_a_commit_that_does_not_build_blocks_nothing_and_the_next_is_compared_with_the_last_that_built(
    stage: Stage,
) -> None:
    base = stage.library.line(None, 1)[0]
    stage.follow()
    good, bad, next_one = stage.library.line(base, 3)
    stage.watcher.once()
    stage.build()
    stage.watcher.once()
    assert stage.compared()[-1] == (good, bad)
    assert stage.watcher.once()
    assert len(stage.runs()) == 2, "the next one waits until it is known whether this one builds"
    stage.fail(stage.runs()[-1], f"fake@git:{stage.library.bare}#{bad}")
    stage.measure_all()
    assert stage.compared() == [(base, good), (good, bad), (good, next_one)]


def test_where_the_commit_that_following_began_with_does_not_build_the_next_two_are_compared(stage: Stage) -> None:
    base = stage.library.line(None, 1)[0]
    stage.follow()
    first, second = stage.library.line(base, 2)
    stage.watcher.once()
    stage.fail(stage.runs()[0], f"fake@git:{stage.library.bare}#{base}")
    stage.measure_all()
    assert stage.compared() == [(base, first), (first, second)]


@pytest.mark.parametrize(
    "reason",
    [RunReason.DISK_FULL, RunReason.SOURCES_UNAVAILABLE, RunReason.GIVEN_UP, RunReason.PROCESS_ENDED, None],
)
def test_a_commit_whose_run_failed_before_it_began_is_waited_for_and_measured_once_its_run_is_resumed(
    stage: Stage, reason: RunReason | None
) -> None:
    base = stage.library.line(None, 1)[0]
    stage.follow()
    first, second = stage.library.line(base, 2)
    stage.watcher.once()
    (run,) = stage.runs()
    stage.fail(run, f"fake@git:{stage.library.bare}#{first}", reason)
    assert not stage.watcher.once()
    assert stage.compared() == [(base, first)]
    assert any(f"kexbench runs resume {run.run_id}" in said for said in stage.said)
    record(stage.store, run.run_id, RunState.QUEUED, "resumed by alice")
    stage.measure_all()
    assert stage.compared() == [(base, first), (first, second)]


def test_rewritten_history_has_its_new_commits_measured_and_does_not_shift_which(stage: Stage) -> None:
    base = stage.library.line(None, 2)[-1]
    stage.follow(every=2)
    old = stage.library.line(base, 3)
    stage.measure_all()
    new = stage.library.line(old[0], 2)
    stage.measure_all()
    assert stage.compared() == [(base, old[1]), (old[1], new[0])]
    (fourth,) = stage.library.line(new[-1], 1)
    stage.measure_all()
    assert stage.compared()[2:] == [(new[0], fourth)]


def test_a_branch_that_was_set_back_has_nothing_measured(stage: Stage) -> None:
    base = stage.library.line(None, 1)[0]
    stage.follow()
    commits = stage.library.line(base, 2)
    stage.measure_all()
    stage.library.lead_to(commits[0])
    stage.measure_all()
    assert len(stage.runs()) == 2
    (again,) = stage.library.line(commits[0], 1)
    stage.measure_all()
    assert stage.compared()[-1] == (commits[1], again)


@pytest.mark.parametrize("answers", range(2, 5))
def test_a_watcher_that_ends_anywhere_begins_again_and_every_run_is_begun_once(stage: Stage, answers: int) -> None:
    """Heads, what is followed, the run, what is noted of it."""
    base = stage.library.line(None, 1)[0]
    stage.follow()
    (commit,) = stage.library.line(base, 1)
    stage.line.answers_left = answers - 1
    assert not stage.watcher.once()
    stage.line.answers_left = None
    stage.watcher = stage.another()
    stage.measure_all()
    assert stage.compared() == [(base, commit)]
    assert [event.state for event in stage.store.events(stage.runs()[0].run_id)] == ["queued", "finished"]


def test_two_watchers_begin_every_run_once(stage: Stage) -> None:
    base = stage.library.line(None, 1)[0]
    stage.follow(every=2)
    other = stage.another()
    commits = stage.library.line(base, 6)
    for _ in range(6):
        assert stage.watcher.once()
        assert other.once()
        stage.build()
    assert stage.compared() == [(base, commits[1]), (commits[1], commits[3]), (commits[3], commits[5])]


def test_a_library_that_can_not_be_read_is_reported_once_and_holds_up_no_spec(stage: Stage) -> None:
    stage.library.line(None, 1)
    stage.follow()
    stage.library.bare.rename(stage.folder / "away.git")
    stage.watcher = stage.another()
    commit = stage.shared.pushed({"bench-specs/quick.yaml": CLUSTER_SPEC})
    for _ in range(2):
        assert not stage.watcher.once()
    assert [run.commit.commit for run in stage.runs() if run.commit] == [commit]
    assert len([line for line in stage.said if "is not a git repository" in line]) == 1


def test_a_repository_that_the_catalogue_does_not_name_is_not_followed(stage: Stage) -> None:
    stage.library.line(None, 1)
    stage.watcher.once()
    follow = FOLLOWING.format(address="/elsewhere.git", every=1)
    spec = CLUSTER_SPEC.replace("subjects:\n  - fake: [1.0, 1.1]", follow)
    stage.shared.pushed({PATH: spec, "bench-specs/libraries.yaml": stage.catalogue_text()})
    assert stage.watcher.once()
    assert any("'/elsewhere.git' is not among the catalogue's repositories of fake" in line for line in stage.said)
    assert stage.store.followed("benchmarks") == []
