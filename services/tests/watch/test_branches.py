"""What is queued when watched branches appear, disappear, move or are replaced: real git, routes and store."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kexbench.api import monitoring
from kexbench.api.calling import API_PREFIX
from kexbench.client import ApiClient, token_in
from kexbench.domain.commits import NO_COMMIT, HandledCommit, Presence
from kexbench.domain.repositories import Repository
from kexbench.queue.troubles import Troubles
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.watch.git import GitSource
from kexbench.watch.loop import MOST_COMMITS, Watcher
from tests.api.cluster import CLUSTER_SPEC, cluster_app
from tests.builders import newest_runs
from tests.serving import serving
from tests.watch.repositories import Shared, git

QUICK = "bench-specs/quick.yaml"
OLD = 30
"""Commits that each change a spec, from before anything is watched."""


class Stage:
    def __init__(self, folder: Path, store: ClickHouseStore, url: str) -> None:
        self.folder, self.store, self.shared = folder, store, Shared(folder)
        (folder / "token").write_text("dispatcher")
        self.api = ApiClient(url, token_in(folder / "token"), patience_s=0)
        self.pages = httpx2.Client(base_url=url + API_PREFIX, trust_env=False)
        self.said: list[str] = []
        self.troubles = Troubles()
        self.number = 0

    def poll(self, *branches: str) -> None:
        """As a watcher that has just started, so that nothing but the API and the copy remembers."""
        with closing(GitSource(self.shared.watched(*branches), self.folder / "copy")) as source:
            watcher = Watcher(self.api, [source], lambda: datetime.now(UTC), self.said.append, troubles=self.troubles)
            assert watcher.once()

    def commits(self, count: int) -> list[str]:
        """New commits, each with another text of the same spec."""
        made = []
        for _ in range(count):
            self.number += 1
            made.append(self.shared.commit({QUICK: CLUSTER_SPEC.replace("batches: 4", f"batches: {self.number + 4}")}))
        return made

    def push(self, branch: str, *, force: bool = False) -> None:
        self.shared.push(branch, force=force)

    def rename(self, branch: str, name: str) -> None:
        """As a forge does it for its default branch."""
        self.push(name)
        git(self.shared.bare, "symbolic-ref", "HEAD", f"refs/heads/{name}")
        git(self.shared.clone, "push", "--quiet", "origin", f":{branch}")

    def measured(self) -> set[str]:
        return {run.commit.commit for run in newest_runs(self.store, 100) if run.commit}

    def health(self) -> dict[str, str]:
        """The troubles of the service, which is another process than the watcher on a cluster."""
        troubles = self.pages.get("/health").json()["troubles"]
        return {trouble["part"]: trouble["reason"] for trouble in troubles}

    def notes(self) -> list[tuple[str, str, str]]:
        """Branch, commit and note, the newest first."""
        views: list[dict[str, Any]] = self.pages.get("/commits").json()["commits"]
        return [(view["commit"]["branch"], view["commit"]["commit"], view["note"]) for view in views if view["note"]]


@pytest.fixture
def stage(empty_store: ClickHouseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(monitoring, "_CHECK_EVERY_S", 0)
    watched = Repository(name="benchmarks", url="/any", branches=("main", "release-3"), specs=".", catalogue="a.yaml")
    with serving(cluster_app(empty_store, tmp_path, repositories=[watched])) as url:
        stage = Stage(tmp_path, empty_store, url)
        with closing(stage.api), closing(stage.pages):
            yield stage


def made_at_the_head_of_main(stage: Stage) -> list[str]:
    stage.push("release-3")
    return []


def made_where_main_was_long_ago(stage: Stage) -> list[str]:
    git(stage.shared.clone, "reset", "--quiet", "--hard", f"HEAD~{OLD // 2}")
    stage.push("release-3")
    return []


def made_with_a_commit_of_its_own(stage: Stage) -> list[str]:
    own = stage.commits(1)
    stage.push("release-3")
    return own


def pushed_to_both(stage: Stage) -> list[str]:
    both = stage.commits(2)
    stage.push("main")
    stage.push("release-3")
    return both


def main_renamed(stage: Stage) -> list[str]:
    stage.rename("main", "release-3")
    return []


def main_renamed_and_pushed_to(stage: Stage) -> list[str]:
    new = stage.commits(1)
    stage.rename("main", "release-3")
    return new


def made_of_another_history(stage: Stage) -> list[str]:
    git(stage.shared.clone, "checkout", "--quiet", "--orphan", "another")
    stage.commits(3)
    stage.push("release-3")
    return []


def main_set_back(stage: Stage) -> list[str]:
    git(stage.shared.clone, "reset", "--quiet", "--hard", f"HEAD~{OLD // 2}")
    stage.push("main", force=True)
    return []


def main_set_back_and_pushed_to(stage: Stage) -> list[str]:
    git(stage.shared.clone, "reset", "--quiet", "--hard", f"HEAD~{OLD // 2}")
    new = stage.commits(2)
    stage.push("main", force=True)
    return new


def main_replaced_by_another_history(stage: Stage) -> list[str]:
    git(stage.shared.clone, "checkout", "--quiet", "--orphan", "another")
    stage.commits(3)
    stage.push("main", force=True)
    return []


def repository_replaced(stage: Stage) -> list[str]:
    shutil.rmtree(stage.shared.bare)
    shutil.rmtree(stage.shared.clone)
    stage.shared = Shared(stage.folder)
    stage.commits(3)
    stage.push("main")
    return []


def copy_lost(stage: Stage) -> list[str]:
    shutil.rmtree(stage.folder / "copy")
    new = stage.commits(1)
    stage.push("main")
    return new


def copy_lost_and_history_rewritten(stage: Stage) -> list[str]:
    shutil.rmtree(stage.folder / "copy")
    return main_replaced_by_another_history(stage)


def long_pause(stage: Stage) -> list[str]:
    new = stage.commits(MOST_COMMITS + 5)
    stage.push("main")
    return new[5:]


CHANGES = [
    made_at_the_head_of_main,
    made_where_main_was_long_ago,
    made_with_a_commit_of_its_own,
    pushed_to_both,
    main_renamed,
    main_renamed_and_pushed_to,
    made_of_another_history,
    main_set_back,
    main_set_back_and_pushed_to,
    main_replaced_by_another_history,
    repository_replaced,
    copy_lost,
    copy_lost_and_history_rewritten,
    long_pause,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_repository_with_old_commits_has_only_new_ones_measured(
    stage: Stage, change: Callable[[Stage], list[str]]
) -> None:
    stage.commits(OLD)
    stage.push("main")
    stage.poll("main", "release-3")
    assert stage.measured() == set()
    new = change(stage)
    for _ in range(2):
        stage.poll("main", "release-3")
        assert stage.measured() == set(new)


def test_a_branch_that_was_not_watched_and_is_renamed_to_a_watched_one_is_history(stage: Stage) -> None:
    stage.commits(OLD)
    stage.push("main")
    stage.poll("trunk")
    stage.rename("main", "trunk")
    stage.poll("trunk")
    assert stage.measured() == set()
    new = stage.commits(1)
    stage.push("trunk")
    stage.poll("trunk")
    assert stage.measured() == set(new)


@pytest.mark.parametrize("leads_to", ["main", "master"])
def test_a_branch_is_made_from_an_unwatched_one_whose_commits_are_history(stage: Stage, leads_to: str) -> None:
    """Wherever HEAD of the repository leads; a bare one may have it at a branch that nobody has."""
    git(stage.shared.bare, "symbolic-ref", "HEAD", f"refs/heads/{leads_to}")
    stage.commits(OLD)
    stage.push("main")
    stage.poll("trunk")
    for is_polled in (True, False):
        stage.commits(2)
        stage.push("main")
        if is_polled:
            stage.poll("trunk")
    stage.push("trunk")
    stage.poll("trunk")
    assert stage.measured() == set()
    new = stage.commits(2)
    stage.push("trunk")
    stage.poll("trunk")
    assert stage.measured() == set(new)


@pytest.mark.parametrize("leads_to", ["main", "master"])
def test_an_unwatched_branch_with_new_commits_that_is_renamed_to_a_watched_one_is_history(
    stage: Stage, leads_to: str
) -> None:
    git(stage.shared.bare, "symbolic-ref", "HEAD", f"refs/heads/{leads_to}")
    stage.commits(OLD)
    stage.push("main")
    stage.poll("trunk")
    stage.commits(2)
    stage.push("main")
    stage.poll("trunk")
    stage.rename("main", "trunk")
    stage.poll("trunk")
    assert stage.measured() == set()


def test_a_branch_that_does_not_exist_yet_hides_no_commits_of_others(stage: Stage) -> None:
    stage.commits(OLD)
    stage.push("main")
    branches = ("release-3", "main")
    stage.poll(*branches)
    new = stage.commits(2)
    stage.push("main")
    for _ in range(2):
        stage.poll(*branches)
        assert stage.measured() == set(new)
    stage.push("release-3")
    stage.poll(*branches)
    assert stage.measured() == set(new)
    assert (stage.notes(), stage.health()) == ([], {})


def test_a_watcher_that_ends_while_it_notes_a_branch_to_wait_for_reports_none_as_gone(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.commits(1)
    stage.push("main")
    note = stage.api.note_commit

    def noting(handled: HandledCommit) -> None:
        note(handled)
        a_bug()

    monkeypatch.setattr(stage.api, "note_commit", noting)
    with pytest.raises(AssertionError):
        stage.poll("trunk")
    monkeypatch.undo()
    stage.poll("trunk")
    stage.push("trunk")
    stage.poll("trunk")
    assert (stage.notes(), stage.measured()) == ([], set())


def test_a_repository_that_was_empty_has_its_first_commits_measured(stage: Stage) -> None:
    stage.poll("main", "release-3")
    new = stage.commits(2)
    stage.push("main")
    stage.push("release-3")
    stage.poll("main", "release-3")
    assert stage.measured() == set(new)


def test_a_branch_that_is_deleted_and_made_again_continues_where_it_was(stage: Stage) -> None:
    stage.commits(2)
    stage.push("main")
    stage.push("release-3")
    stage.poll("main", "release-3")
    own = stage.commits(1)
    stage.push("release-3")
    stage.poll("main", "release-3")
    git(stage.shared.clone, "push", "--quiet", "origin", ":release-3")
    stage.poll("main", "release-3")
    stage.push("release-3")
    stage.poll("main", "release-3")
    assert stage.measured() == set(own)
    more = stage.commits(1)
    stage.push("release-3")
    stage.poll("main", "release-3")
    assert stage.measured() == {*own, *more}


def test_more_commits_than_one_poll_measures_are_named_with_the_remedy(stage: Stage) -> None:
    stage.commits(1)
    stage.push("main")
    stage.poll("main")
    new = stage.commits(MOST_COMMITS + 5)
    stage.push("main")
    stage.poll("main")
    ((branch, commit, note),) = stage.notes()
    assert (branch, commit) == ("main", new[4])
    assert note.startswith("5 new commits of branch main up to this one")
    assert "kexbench submit SPEC" in note
    assert [line for line in stage.said if note in line]


def test_a_watched_branch_that_is_gone_is_reported_once_and_impairs_the_service_until_it_is_back(stage: Stage) -> None:
    stage.commits(1)
    stage.push("main")
    stage.push("release-3")
    stage.poll("main", "release-3")
    assert (stage.notes(), stage.health()) == ([], {})
    git(stage.shared.clone, "push", "--quiet", "origin", ":release-3")
    for _ in range(3):
        stage.poll("main", "release-3")
        ((branch, commit, note),) = stage.notes()
        assert (branch, commit) == ("release-3", NO_COMMIT)
        assert note.startswith("branch release-3 of benchmarks does not exist any more; push it")
        assert stage.said.count(note) == 1
        ((part, reason),) = stage.health().items()
        assert part == "branch release-3 of benchmarks"
        assert reason.startswith("branch release-3 of benchmarks does not exist; push it")
    stage.push("release-3")
    stage.poll("main", "release-3")
    assert stage.health() == {}
    assert stage.api.heads("benchmarks")["release-3"].presence is Presence.PRESENT
    assert len(stage.notes()) == 1


def test_a_watched_branch_that_never_existed_is_no_trouble(stage: Stage) -> None:
    stage.commits(1)
    stage.push("main")
    for _ in range(2):
        stage.poll("main", "release-3")
    assert (stage.notes(), stage.health()) == ([], {})
    assert len([line for line in stage.said if "release-3" in line and "does not exist yet" in line]) == 1


def a_bug(*_: object) -> None:
    raise KeyError("a bug")


def test_an_error_that_nobody_expected_is_a_trouble_of_its_repository_and_holds_up_no_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.commits(1)
    stage.push("main")
    other = stage.shared.watched(name="other")
    with (
        closing(GitSource(other, stage.folder / "other")) as broken,
        closing(GitSource(stage.shared.watched(), stage.folder / "copy")) as source,
    ):
        watcher = Watcher(stage.api, [broken, source], lambda: datetime.now(UTC), troubles=stage.troubles)
        assert watcher.once()
        new = stage.commits(1)
        stage.push("main")
        with monkeypatch.context() as patched:
            patched.setattr(broken, "files", a_bug)
            assert not watcher.once()
        assert stage.measured() == set(new)
        (trouble,) = stage.troubles.now()
        assert (trouble.part, trouble.reason) == ("repository other", "KeyError: 'a bug'")
        assert watcher.once()
        assert stage.troubles.now() == []


def test_an_error_that_nobody_expected_is_the_note_of_its_proposal_and_holds_up_no_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.commits(1)
    stage.push("main")
    planned = stage.shared.watched().model_copy(update={"planned_branches": ("f*",)})
    with closing(GitSource(planned, stage.folder / "copy")) as source:
        watcher = Watcher(stage.api, [source], lambda: datetime.now(UTC), troubles=stage.troubles)
        assert watcher.once()
        heads = {branch: stage.commits(1)[0] for branch in ("f1", "f2")}
        for branch, head in heads.items():
            git(stage.shared.clone, "push", "--quiet", "origin", f"{head}:refs/heads/{branch}")
        files = source.files
        with monkeypatch.context() as patched:
            patched.setattr(source, "files", lambda commit: a_bug() if commit == heads["f1"] else files(commit))
            assert watcher.once()
        assert watcher.once()
    assert stage.notes() == [("f1", heads["f1"], "kexbench failed: KeyError: 'a bug'")]
    assert {branch: head.commit for branch, head in stage.api.heads("benchmarks").items() if branch in heads} == heads
    assert stage.troubles.now() == []
