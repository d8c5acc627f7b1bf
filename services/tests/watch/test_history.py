"""What is read of a followed library's history, of which no more is fetched than it takes."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dulwich.repo import Repo

from kexbench.watch.errors import SourceError
from kexbench.watch.history import History
from tests.kits.sources import serving as answering
from tests.watch.library import Library
from tests.watch.repositories import git
from tests.watch.smart_http import published


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


@pytest.fixture
def address(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    git(library.bare, "config", "uploadpack.allowFilter", "true")
    with published(tmp_path) as url:
        yield f"{url}/{library.bare.name}"


def copied(folder: Path) -> set[str]:
    """Every object that was fetched."""
    with closing(Repo(str(folder))) as copy:
        return {name.decode() for name in copy.object_store}


def test_only_commits_are_fetched_and_only_those_that_are_new(library: Library, address: str, tmp_path: Path) -> None:
    old = library.line(None, 5)
    with closing(History(address, tmp_path / "copy")) as history:
        assert history.head("master") == old[-1]
        assert copied(tmp_path / "copy") == {old[-1]}
        new = library.line(old[-1], 3)
        assert history.head("master") == new[-1]
        assert history.new_commits("master", new[-1], old[-1]) == (new, 0)
        assert copied(tmp_path / "copy") == {old[-1], *new}
        commit = history.library_commit(new[0])
        assert (commit.hash, commit.subject, commit.committed_at) == (new[0], "Change 6", commit.authored_at)
        assert history.head("other") is None


@pytest.mark.parametrize("is_here", [True, False])
def test_of_rewritten_history_what_is_new_is_listed_and_how_far_it_was_set_back(
    library: Library, address: str, tmp_path: Path, is_here: bool
) -> None:
    old = library.line(None, 6)
    with closing(History(str(library.bare) if is_here else address, tmp_path / "copy")) as history:
        assert history.head("master") == old[-1]
        new = library.line(old[3], 2)
        assert history.head("master") == new[-1]
        assert history.new_commits("master", new[-1], old[-1]) == (new, 2)
        library.lead_to(old[2])
        assert history.head("master") == old[2]
        assert history.new_commits("master", old[2], new[-1]) == ([], 3)
        other = library.line(None, 2)
        assert history.head("master") == other[-1]
        assert history.new_commits("master", other[-1], old[2]) == ([other[-1]], 0)
        assert history.new_commits("master", other[-1], "f" * 40) == ([other[-1]], 0)


def test_a_copy_that_was_lost_is_made_anew_and_goes_back_to_what_was_handled(
    library: Library, address: str, tmp_path: Path
) -> None:
    commits = library.line(None, 8)
    (tmp_path / "copy" / "objects").mkdir(parents=True)
    with closing(History(address, tmp_path / "copy")) as history:
        assert history.head("master") == commits[-1]
        assert history.new_commits("master", commits[-1], commits[2]) == (commits[3:], 0)


def test_a_copy_whose_making_was_cut_short_before_its_boundary_was_noted_serves(
    library: Library, address: str, tmp_path: Path
) -> None:
    old = library.line(None, 4)
    with closing(History(address, tmp_path / "copy")) as history:
        assert history.head("master") == old[-1]
    (tmp_path / "copy" / "shallow").unlink()
    new = library.line(old[1], 2)
    with closing(History(address, tmp_path / "copy")) as history:
        assert history.head("master") == new[-1]
        assert history.new_commits("master", new[-1], old[-1])[0][-1] == new[-1]


def test_a_merge_is_one_commit_and_what_it_brought_is_none(library: Library, tmp_path: Path) -> None:
    base = library.line(None, 1)[0]
    side = library.line(base, 2)
    merge = library.merge(base, side[-1])
    with closing(History(str(library.bare), tmp_path / "copy")) as history:
        assert history.head("master") == merge
        assert history.new_commits("master", merge, base) == ([merge], 0)
        assert history.new_commits("master", merge, side[-1]) == ([merge], 2)


def test_a_server_that_leaves_nothing_out_serves_as_well(library: Library, address: str, tmp_path: Path) -> None:
    git(library.bare, "config", "uploadpack.allowFilter", "false")
    commits = library.line(None, 2)
    with closing(History(address, tmp_path / "copy")) as history:
        assert history.head("master") == commits[-1]
        assert history.new_commits("master", commits[-1], commits[0]) == ([commits[1]], 0)


@pytest.mark.parametrize(
    ("address", "reason"),
    [("/nowhere/at/all.git", "is not a git repository"), ("http://127.0.0.1:9/a.git", "can't be read")],
)
def test_a_repository_that_can_not_be_read_is_reported_with_a_remedy(address: str, reason: str, tmp_path: Path) -> None:
    with (
        pytest.raises(SourceError, match=f"{address} {reason}.*\n.*remedy"),
        closing(History(address, tmp_path / "copy")) as found,
    ):
        found.head("master")


def test_a_followed_repository_that_wants_a_password_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with (
        answering(status=401) as closed,
        closing(History(f"{closed.address}/private.git", tmp_path / "copy")) as history,
        pytest.raises(SourceError, match=r"private.git requires a password\n  remedy: use a repository that anybody"),
    ):
        history.head("master")
