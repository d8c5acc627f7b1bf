"""`kexbench bisect` over real git repositories, whose commits build a stand-in that costs what they say."""

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import TIMEOUT_S
from tests.cli.stand_in_git import BROKEN, StandInCli
from tests.kits.repositories import Repository, a_repository

pytestmark = [pytest.mark.skipif(shutil.which("git") is None, reason="no git"), pytest.mark.thorough]

FEW = ("--case", "*_ecdhe-ecdsa_*x25519_aes-128-gcm", "--invocations", "6")


@pytest.fixture
def cli(tmp_path: Path) -> StandInCli:
    return StandInCli(tmp_path)


def search(repository: Repository) -> list[str]:
    return ["bisect", "fake", "good", "master", "--repository", str(repository.folder), *FEW, "--json"]


def a_history(folder: Path, settings: list[str]) -> tuple[Repository, list[str]]:
    """A repository whose commits have these settings, the first one tagged good; and their hashes."""
    repository = a_repository(folder)
    stream = "".join(
        f"commit refs/heads/master\nauthor Ada <ada@example.org> {1_700_000_000 + number} +0000\n"
        f"committer Ada <ada@example.org> {1_700_000_000 + number} +0000\ndata <<END\nChange {number}\nEND\n"
        f"M 100644 inline settings\ndata <<END\n{each}\nEND\nM 100644 inline number\ndata <<END\n{number}\nEND\n\n"
        for number, each in enumerate(settings)
    )
    repository.git("fast-import", "--quiet", stdin=stream)
    hashes = repository.git("rev-list", "--reverse", "master").split()
    repository.git("tag", "good", hashes[0])
    return repository, hashes


def costs(count: int, first: int, step: str = "1.02", broken: tuple[int, ...] = ()) -> list[str]:
    """Each commit with noise of its own; `broken` do not build."""
    settings = [f"seed={number + 1}+step={step if number >= first else '1'}" for number in range(count)]
    return [BROKEN if number in broken else each for number, each in enumerate(settings)]


@pytest.mark.long
def test_a_slower_commit_among_64_is_found_though_three_do_not_build_and_the_search_is_killed(
    cli: StandInCli, tmp_path: Path
) -> None:
    first, broken = 41, (31, 32, 48)
    repository, hashes = a_history(tmp_path / "repository", costs(64, first, broken=broken))
    measured = killed_while_measuring(cli, search(repository))
    done = cli(*search(repository))
    assert done.status == 0, done.err
    found = done.json()
    (commit,) = found["commits"]
    assert (commit["hash"], commit["subject"], commit["fails"]) == (hashes[first], f"Change {first}", None)
    assert (commit["author"], commit["date"][:10]) == ("Ada <ada@example.org>", "2023-11-14")
    assert found["probability"] >= 0.99
    assert found["builds"] <= 10
    assert {failed["number"] for failed in found["failed"]} & {31, 32}, "one of the two is tried first"
    assert {failed["number"] for failed in found["failed"]} <= set(broken)
    (step,) = found["steps"]
    assert step["ratio"] == pytest.approx(1.02, abs=0.004)
    assert found["run_ids"][: len(measured)] == measured

    (listed,) = cli("bisections", "list", "--json").json()["bisections"]
    assert (listed["state"], listed["detail"]) == ("found", found["says"])
    detail = cli("bisections", "show", listed["bisection_id"], "--json").json()
    stored = {run["run_id"] for run in cli("runs", "list", "--json").json()["runs"]}
    assert stored == {run["run_id"] for run in detail["runs"]}, "the one that was killed was gone on with"
    again = cli(*search(repository))
    assert (again.status, again.json()) == (0, found)
    assert {run["run_id"] for run in cli("runs", "list", "--json").json()["runs"]} == stored


def killed_while_measuring(cli: StandInCli, arguments: list[str]) -> list[str]:
    """Kills a search amid its third measurement; the runs of the first two."""
    with cli.start(*arguments) as process:
        assert process.stderr is not None
        states: dict[str, str] = {}
        for line in process.stderr:
            if found := re.search(r": run (\S+) is (\w+)", line):
                states[found[1]] = found[2]
            if list(states.values()).count("finished") >= 2 and "running" in states.values():
                break
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT_S)
    return [run_id for run_id, state in states.items() if state == "finished"]


@pytest.mark.long
def test_a_step_that_is_none_cannot_be_distinguished_and_nothing_between_the_ends_is_built(
    cli: StandInCli, tmp_path: Path
) -> None:
    repository, _ = a_history(tmp_path / "repository", costs(5, 2, step="1.0005"))
    done = cli(*search(repository))
    assert done.status == 4, done.err
    found = done.json()
    assert (found["verdict"], found["builds"], found["measurements"], found["commits"]) == ("cannot say", 2, 1, [])


def test_ends_that_give_no_number_could_not_be_measured(cli: StandInCli, tmp_path: Path) -> None:
    repository, _ = a_history(tmp_path / "repository", [*costs(2, 9), "unsupported=1"])
    done = cli(*search(repository))
    summary = done.json()["summary"]
    assert (done.status, summary["state"]) == (1, "not measured"), done.err
    assert "the ends have no result in any case: " in summary["detail"]
    assert "told to support nothing" in summary["detail"]
    assert cli("bisections", "list", "--json").json()["bisections"] == [summary], "the page Bisections shows it"


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("good", "good"), 1, "good is given as both ends remedy: name two commits"),
        (("master", "good"), 1, "good is older than master remedy: name the good commit first"),
        (("good", "HEAD~1"), 2, "is not a source; a repository is an absolute path"),
    ],
)
def test_a_history_that_cannot_be_searched_is_reported_with_the_remedy(
    arguments: tuple[str, ...], status: int, says: str, cli: StandInCli, tmp_path: Path
) -> None:
    repository, _ = a_history(tmp_path / "repository", costs(2, 9))
    done = cli("bisect", "fake", *arguments, "--repository", str(repository.folder))
    assert done.status == status
    assert " ".join(says.split()) in " ".join(f"{done.out} {done.err}".replace("│", " ").split())
