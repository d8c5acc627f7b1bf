"""What `make bisect-real` plants, and what it calls right; building and measuring it takes a quarter of an hour."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.bisection import Searched, faults_of, line_of
from bench.machine import BenchError
from bench.planted import BRANCH, GOOD, MORE, Planted, plant, plant_small_step, plant_triplets
from bench.small_step import functions_of, named_in
from bench.small_step import line_of as line_of_side
from tests.watch.repositories import git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")

FINISHED = """\
int tls_construct_finished(SSL *s, WPACKET *pkt)
{
    if (s->server) {
        sender = s->method->ssl3_enc->server_finished_label;
    }
}
"""
COMMITS = 12
Plant = Callable[..., Planted]


@pytest.fixture
def planted(tmp_path: Path) -> Plant:
    """Plants in a tree with the one function that it knows."""

    def make(name: str, seed: int = 1, *, with_step: bool = True, function: str = FINISHED) -> Planted:
        sources = tmp_path / name
        (sources / "ssl" / "statem").mkdir(parents=True)
        (sources / "ssl" / "statem" / "statem_lib.c").write_text(function)
        (sources / "ssl" / "ssl_lib.c").write_text("int one;\n")
        (sources / ".gitignore").write_text("*.c\n")
        return plant(sources, COMMITS, seed, with_step=with_step)

    return make


def line_of_commits(made: Planted) -> list[str]:
    return git(made.folder, "rev-list", "--reverse", f"{GOOD}..{BRANCH}").split()


def commits_about(made: Planted, text: str) -> list[str]:
    """Those that put the text in or took it out."""
    return git(made.folder, "log", "--reverse", "--format=%H", f"-S{text}", f"{GOOD}..{BRANCH}").split()


@pytest.mark.parametrize("seed", range(3))
def test_one_commit_has_the_step_and_another_one_does_not_compile(planted: Plant, seed: int) -> None:
    made = planted("one", seed)
    commits = line_of_commits(made)
    assert len(commits) == COMMITS
    assert commits_about(made, "hash_once_more") == [made.slower]
    broken = commits.index(made.broken)
    assert commits_about(made, "this is no C") == commits[broken : broken + 2], "the next one mends it"
    assert made.slower not in commits[broken : broken + 2], "else nobody could tell which of them it is"
    assert made.slower not in (commits[0], commits[-1])


def test_the_same_seed_plants_the_same_commits(planted: Plant) -> None:
    one, again, other = planted("one"), planted("again"), planted("other", 2)
    assert line_of_commits(one) == line_of_commits(again)
    assert (one.slower, one.broken) == (again.slower, again.broken)
    assert line_of_commits(other) != line_of_commits(one)


def test_without_a_step_no_commit_is_slower(planted: Plant) -> None:
    made = planted("none", with_step=False)
    assert made.slower is None
    assert commits_about(made, "hash_once_more") == []
    assert commits_about(made, "this is no C")[0] == made.broken


def test_a_small_step_is_the_same_function_with_fewer_bytes(tmp_path: Path) -> None:
    file = tmp_path / "ssl" / "statem" / "statem_lib.c"
    file.parent.mkdir(parents=True)
    file.write_text(FINISHED)
    first, second = plant_small_step(tmp_path)
    assert git(tmp_path, "show", f"{first}:ssl/statem/statem_lib.c").strip() == FINISHED.strip()
    changed = git(tmp_path, "show", f"{second}:ssl/statem/statem_lib.c")
    assert ("block[16]" in changed, "EVP_sha256()" in changed, "4096" in changed) == (True, True, False)
    assert changed.count("hash_once_more()") == 1


def test_a_small_step_is_named_by_the_path_of_each_side() -> None:
    side = {"side": "server", "before": 1000, "after": 1001, "path": [{"name": "finish"}, {"name": MORE}]}
    assert functions_of(side) == ["finish", MORE]
    assert line_of_side(side) == "server +0.100% (+1 instructions), finish > hash_once_more"
    assert line_of_side(side | {"path": []}).endswith("no function")
    objects = side | {"side": "objects", "path": []}
    assert named_in([side | {"side": "client"}, side, objects]) == {"client", "server"}
    assert named_in([side | {"side": "client", "path": []}, side, objects]) == {"server"}


def test_sources_that_are_not_as_expected_are_reported(planted: Plant) -> None:
    with pytest.raises(BenchError, match=r"statem_lib\.c does not have the expected content"):
        planted("other", function="int tls_construct_finished;\n")


PLANTED = Planted(Path("repository"), COMMITS, slower="slower", broken="broken")
NOTHING = Planted(Path("repository"), COMMITS, slower=None, broken="broken")


def answered(*hashes: str, status: int = 0, builds: int = 6) -> Searched:
    answer: dict[str, Any] = {
        "verdict": "found" if status == 0 else "cannot say",
        "probability": 0.9991 if status == 0 else None,
        "commits": [{"hash": each, "subject": f"Change {each}"} for each in hashes],
        "steps": [{"ratio": 1.023, "low": 1.021, "high": 1.025}],
        "builds": builds,
        "failed": [{}],
        "measurements": 5,
        "invocations": 30,
    }
    return Searched(status, answer, minutes=14.2, cpu_minutes=16.9)


@pytest.mark.parametrize(
    ("made", "searched", "says"),
    [
        (PLANTED, answered("slower"), []),
        (PLANTED, answered("slower", builds=9), ["9 builds, at most 8 are allowed"]),
        (PLANTED, answered("broken", "slower"), ["expected slower, got broken, slower"]),
        (PLANTED, answered("slower", status=4), ["expected slower, got no commit"]),
        (NOTHING, answered(status=4), []),
        (NOTHING, answered("other"), ["exit status 0 although no commit is slower"]),
    ],
)
def test_an_answer_is_right_that_names_the_planted_commit_alone_within_its_builds(
    made: Planted, searched: Searched, says: list[str]
) -> None:
    assert faults_of(made, searched) == says


def test_the_line_says_how_sure_it_is_and_what_it_took() -> None:
    assert line_of(PLANTED, answered("slower")) == (
        "found: Change slower of 12 commits, probability 0.999, change +2.30% [+2.10%, +2.50%], 6 builds, 1 failed, "
        "5 measurements, 30 invocations, 14 minutes, 17 CPU minutes"
    )
    assert line_of(NOTHING, answered(status=4)).startswith(
        "cannot say: no commit of 12 commits, no probability, change"
    )


def test_twins_differ_in_their_readme_alone_and_in_a_third_commit_rsa_signs_twice(tmp_path: Path) -> None:
    signs = "    return rsa->meth->rsa_priv_enc(flen, from, to, rsa, padding);\n"
    (tmp_path / "README").write_text("OpenSSL.\n")
    (tmp_path / "crypto" / "rsa").mkdir(parents=True)
    (tmp_path / "crypto" / "rsa" / "rsa_crpt.c").write_text(f"{{\n{signs}}}\n")
    made = plant_triplets(tmp_path)
    assert git(tmp_path, "rev-list", "--reverse", BRANCH).split() == [made.first, made.twin, made.slower]
    assert git(tmp_path, "diff", "--name-only", made.first, made.twin).split() == ["README"]
    assert git(tmp_path, "diff", "--name-only", made.twin, made.slower).split() == ["crypto/rsa/rsa_crpt.c"]
    assert (tmp_path / "crypto" / "rsa" / "rsa_crpt.c").read_text().count("rsa_priv_enc") == 2
