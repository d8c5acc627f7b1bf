"""The line of commits between two of a repository: what it holds, how much is fetched for it, what has none."""

import shutil
from pathlib import Path

import pytest

from kexbench.domain.bisections import LineCommit
from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitError
from kexbench.kits.git import GitOrigin
from kexbench.kits.process import Attempt

from .repositories import Published, Repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


def between(
    tmp_path: Path, good: str, bad: str, *, address: str = "", said: list[str] | None = None
) -> tuple[LineCommit, ...]:
    first, last = (SubjectRef.parse(f"openssl@git:{address or tmp_path / 'repository'}#{name}") for name in (good, bad))
    return GitOrigin(tmp_path / "cache").commits(first, last, (lambda _: None) if said is None else said.append)


def test_commits_are_listed_from_the_good_one_to_the_bad_one_the_oldest_first(
    repository: Repository, tmp_path: Path
) -> None:
    hashes = [repository.commit(patch) for patch in range(5)]
    repository.git("tag", "good", hashes[1])
    found = between(tmp_path, "good", "master")
    assert [commit.hash for commit in found] == hashes[1:]
    assert [commit.subject for commit in found] == ["9.8.1", "9.8.2", "9.8.3", "9.8.4"]
    assert {commit.author for commit in found} == {"Somebody <somebody@example.org>"}
    assert found[0].date.startswith("20")


def test_one_commit_is_a_line_of_itself(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit(1)
    assert [found.hash for found in between(tmp_path, commit, "master")] == [commit]


def test_a_merge_counts_as_one_commit(repository: Repository, tmp_path: Path) -> None:
    good = repository.commit(1)
    repository.git("checkout", "-b", "side")
    repository.commit(2)
    repository.commit(3)
    repository.git("checkout", "master")
    repository.git("commit", "--allow-empty", "-m", "own")
    repository.git("merge", "--no-ff", "-m", "merged", "side")
    assert [commit.subject for commit in between(tmp_path, good, "master")] == ["9.8.1", "own", "merged"]


def test_no_more_history_is_fetched_than_lies_between(repository: Repository, tmp_path: Path) -> None:
    hashes = _many(repository, 300)
    said: list[str] = []
    assert len(between(tmp_path, hashes[250], "master", said=said)) == 50
    assert [text.rpartition("repository")[2] for text in said if text.startswith("fetching")] == [
        "",
        "",
        " and 100 commits before it",
    ]
    (mirror,) = (tmp_path / "cache" / "git").glob("[0-9a-f]*")
    assert not Repository(mirror).git("rev-list", "--all", "--max-count=1", f"--grep=^number {100}$")
    assert len(between(tmp_path, hashes[10], "master", said=said)) == 290


def test_a_line_that_was_listed_once_needs_the_repository_no_more(published: Published, tmp_path: Path) -> None:
    good = published.commit(1)
    commits = [published.commit(patch) for patch in (2, 3, 4)]
    said: list[str] = []
    first = between(tmp_path, good, commits[-1], address=published.address, said=said)
    assert any(text.startswith("fetching every branch") for text in said)  # such an address cannot cut off history
    published.asked.clear()
    assert between(tmp_path, good, commits[-1], address=published.address) == first
    origin, attempt = GitOrigin(tmp_path / "cache"), Attempt(tmp_path, tmp_path / "log", print)
    for commit in commits:
        ref = SubjectRef.parse(f"openssl@git:{published.address}#{commit}")
        assert origin.locate(ref, attempt, refresh=False).identity == commit
    assert published.asked == []


def test_a_release_that_is_on_a_branch_of_its_own_is_reported_with_where_the_branch_began(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit(1)
    base = repository.commit(2)
    repository.git("checkout", "-b", "release")
    repository.commit(3)
    repository.git("checkout", "master")
    repository.commit(4)
    with pytest.raises(KitError, match="release is not an ancestor of master") as caught:
        between(tmp_path, "release", "master")
    assert caught.value.remedy == f"use {base} as the good commit, the last one that both have"


def test_a_commit_that_was_merged_is_reported_with_where_its_branch_left(
    repository: Repository, tmp_path: Path
) -> None:
    left = repository.commit(1)
    repository.git("checkout", "-b", "side")
    side = repository.commit(2)
    repository.git("checkout", "master")
    repository.git("merge", "--no-ff", "-m", "merged", "side")
    with pytest.raises(KitError, match=f"{side} came into master by a merge") as caught:
        between(tmp_path, side, "master")
    assert left in caught.value.remedy


def test_ends_in_the_wrong_order_are_reported(repository: Repository, tmp_path: Path) -> None:
    older = repository.commit(1)
    repository.commit(2)
    with pytest.raises(KitError, match=f"{older} is older than master") as caught:
        between(tmp_path, "master", older)
    assert caught.value.remedy == "name the good commit first"


def test_histories_without_a_common_commit_are_reported(repository: Repository, tmp_path: Path) -> None:
    repository.commit(1)
    repository.git("checkout", "--orphan", "other")
    repository.commit(2)
    with pytest.raises(KitError, match="other and master have no common commit"):
        between(tmp_path, "other", "master")


def test_what_a_commit_says_of_itself_cannot_steer_a_terminal(repository: Repository, tmp_path: Path) -> None:
    good = repository.commit(1)
    repository.git("commit", "--allow-empty", "-m", "red \x1b[31m\x1fand\u2028more")
    (_, found) = between(tmp_path, good, "master")
    assert found.subject == "red [31mandmore"


def _many(repository: Repository, count: int) -> list[str]:
    """So many commits, made at once."""
    stream = "".join(
        f"commit refs/heads/master\ncommitter S <s@example.org> {1_700_000_000 + number} +0000\n"
        f"data <<END\nnumber {number}\nEND\nM 100644 inline VERSION.dat\ndata <<END\n{number}\nEND\n\n"
        for number in range(count)
    )
    repository.git("fast-import", "--quiet", stdin=stream)
    return repository.git("rev-list", "--reverse", "master").split()
