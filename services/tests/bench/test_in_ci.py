"""What `make try-ci` plants, and what it calls right. Building and counting take half an hour."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bench.branches import BROKEN, PLACES, SAME, SLOWER, plant_branches
from bench.in_ci import CI, CONFIGURE, Job
from bench.machine import BenchError
from bench.planted import BRANCH
from kexbench.domain.libraries import Library
from tests.watch.repositories import git


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@pytest.mark.parametrize("library", PLACES)
def test_each_branch_has_one_commit_after_the_base_that_changes_one_file(tmp_path: Path, library: Library) -> None:
    place = PLACES[library]
    file = tmp_path / place.file
    file.parent.mkdir(parents=True)
    file.write_text(f"{place.function}{place.statement}    }}\n}}\n")
    plant_branches(tmp_path, library)
    added = {}
    for branch in (SLOWER, SAME, BROKEN):
        assert git(tmp_path, "rev-list", "--count", f"{BRANCH}..{branch}").strip() == "1"
        assert git(tmp_path, "diff", "--name-only", BRANCH, branch).split() == [place.file]
        added[branch] = git(tmp_path, "diff", BRANCH, branch)
    assert [branch for branch, text in added.items() if "+    (void)spin();" in text] == [SLOWER]
    assert [branch for branch, text in added.items() if "+this is no C" in text] == [BROKEN]


def test_sources_without_the_place_are_reported(tmp_path: Path) -> None:
    (tmp_path / "lib" / "tls13").mkdir(parents=True)
    (tmp_path / "lib" / "tls13" / "finished.c").write_text("int one;\n")
    with pytest.raises(BenchError, match=r"finished\.c does not have the expected content"):
        plant_branches(tmp_path, "gnutls")


def test_each_library_has_an_example() -> None:
    assert set(PLACES) == set(CONFIGURE) == {path.stem for path in (CI / "examples").glob("*.sh")}


RIGHT = Job(1, SLOWER, expected=3, status=3, minutes=4.0, comments=("slower",), report="slower")


@pytest.mark.parametrize(
    ("job", "earlier", "says"),
    [
        (RIGHT, None, []),
        (replace(RIGHT, status=0), None, ["slower in pull request 1 ended with 0, not 3"]),
        (replace(RIGHT, report=""), None, ["slower in pull request 1 has no report"]),
        (replace(RIGHT, comments=("slower", "again")), None, ["slower in pull request 1 left 2 comments"]),
        (replace(RIGHT, comments=("none",)), RIGHT, []),
        (RIGHT, RIGHT, ["slower in pull request 1 left the comment as it was"]),
        (replace(RIGHT, pull_request=2, comments=()), RIGHT, []),
        (replace(RIGHT, pull_request=2), RIGHT, ["slower in pull request 2 left 1 comments"]),
    ],
)
def test_a_job_is_right_that_ends_with_its_status_and_leaves_one_comment_of_its_own(
    job: Job, earlier: Job | None, says: list[str]
) -> None:
    assert list(job.faults(earlier)) == says
