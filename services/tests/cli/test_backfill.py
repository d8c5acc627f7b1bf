"""`kexbench backfill` and what follows a branch by hand, over real git repositories that build a stand-in."""

import os
import shutil
import signal
from pathlib import Path

import pytest
import typer

from kexbench.api.commit_models import NeighboursView
from kexbench.cli.backfill import ends_of, steps_of
from kexbench.domain.bisections import LineCommit
from kexbench.domain.following import LibraryBranch
from kexbench.domain.runs import RunState
from tests.cli.conftest import TIMEOUT_S
from tests.cli.queueing import until
from tests.cli.stand_in_git import BROKEN, StandInCli
from tests.cli.test_bisect import a_history

pytestmark = [pytest.mark.skipif(shutil.which("git") is None, reason="no git"), pytest.mark.thorough]

SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: history }
subjects: [{ fake: 1.0 }]
matrix: { protocol: [TLSv1.2], keyExchange: [RSA] }
measure: { invocations: 2, batches: 2 }
"""
BRANCH = LibraryBranch(library="fake", address="/src", branch="master")


@pytest.fixture
def cli(tmp_path: Path) -> StandInCli:
    (tmp_path / "history.yaml").write_text(SPEC)
    return StandInCli(tmp_path)


def backfill(folder: Path, *more: str) -> list[str]:
    where = ["--repository", str(folder / "repository"), "--spec", str(folder / "history.yaml")]
    return ["backfill", "fake", "good..master", *where, "--json", *more]


def test_where_nobody_serves_every_second_commit_is_measured_once_and_one_that_does_not_build_is_passed_over(
    cli: StandInCli, tmp_path: Path
) -> None:
    _, hashes = a_history(tmp_path / "repository", ["seed=1", "seed=2", BROKEN, "seed=4"])
    done = cli(*backfill(tmp_path, "--every", "2"))
    assert done.status == 0, done.err
    assert "4 commits, 2 pairs to compare, 0 of them queued before; 2 runs to measure here" in done.err
    found = done.json()
    pairs = [(run["base"], run["commit"], run["state"]) for run in found["runs"]]
    assert pairs == [(hashes[0], hashes[2], "failed"), (hashes[0], hashes[3], "finished")]
    assert found["passed_over"] == [hashes[2]]
    again = cli(*backfill(tmp_path, "--every", "2"))
    assert (again.status, again.json()) == (0, found)
    assert "2 of them queued before; 0 runs" in again.err


def test_by_hand_a_spec_that_follows_a_branch_plans_its_newest_commit_by_name(
    cli: StandInCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, hashes = a_history(tmp_path / "repository", ["seed=1", "seed=2"])
    follows = f"follow: {{ library: fake, repository: {repository.folder}, branch: master }}"
    spec, catalogue = tmp_path / "follows.yaml", tmp_path / "libraries.yaml"
    spec.write_text(SPEC.replace("subjects: [{ fake: 1.0 }]", follows))
    catalogue.write_text(
        "apiVersion: kexbench.dev/v1\nkind: Catalogue\nlibraries: {}\n"
        f"repositories: {{ fake: [{repository.folder}] }}\n"
    )
    monkeypatch.setenv("KEXBENCH_CATALOGUE", str(catalogue))
    planned = cli("plan", str(spec), "--json")
    assert planned.status == 0, planned.err
    assert [one["source"].partition("#")[2] for one in planned.json()["subjects"]] == [hashes[1]]
    assert f"fake master: {hashes[1][:12]}, 2023-11-14, Change 1" in planned.err


@pytest.mark.parametrize("span", ["good", "good..", "..master", "good..-x"])
def test_what_is_no_span_of_commits_is_reported(span: str, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter):
        ends_of("fake", str(tmp_path), span)


def test_what_waits_is_expected_to_build_and_asked_again_the_next_is_compared_with_the_last_that_did() -> None:
    commits = [LineCommit(hash=digit * 40, author="", date="", subject="") for digit in "abcd"]
    broken = BRANCH.reference(commits[1].hash)
    failed: set[str] = set()

    def ask(asked: list[str]) -> NeighboursView:
        culprit = bool(failed) and broken.endswith(tuple(asked))
        state = RunState.FAILED if culprit else RunState.QUEUED
        unbuilt = [broken] if culprit else []
        return NeighboursView(
            run_id="-".join(asked), state=state, started=False, detail="", unbuilt=unbuilt, estimated_s=1
        )

    def pairs() -> list[tuple[str, str]]:
        return [(step.base or "", step.commit.hash) for step in steps_of(BRANCH, commits, ask)]

    a, b, c, d = (commit.hash for commit in commits)
    assert pairs() == [(a, b), (b, c), (c, d)]
    failed.add(b)
    assert pairs() == [(a, b), (a, c), (c, d)]
    assert [step.breaks for step in steps_of(BRANCH, commits, ask)] == [True, False, False]


@pytest.mark.parametrize("why", ["store failed: the disk is full", "fetch failed: no network"])
def test_it_stops_at_a_run_that_is_held_up_and_passes_over_no_commit_though_its_words_name_it(why: str) -> None:
    a, b, c = (digit * 40 for digit in "abc")
    commits = [LineCommit(hash=commit, author="", date="", subject="") for commit in (a, b, c)]
    held_up = {b}

    def ask(asked: list[str]) -> NeighboursView:
        state = RunState.FAILED if asked[-1] in held_up else RunState.QUEUED
        detail = f"{BRANCH.reference(asked[-1])}: {why}"
        return NeighboursView(run_id="one", state=state, started=False, detail=detail, estimated_s=1)

    def steps() -> list[tuple[str | None, str, bool, bool]]:
        return [(step.base, step.commit.hash, step.breaks, step.failed) for step in steps_of(BRANCH, commits, ask)]

    assert steps() == [(a, b, False, True)]
    held_up.clear()
    assert steps() == [(a, b, False, False), (b, c, False, False)]


@pytest.mark.long
def test_ctrl_c_where_nobody_serves_keeps_what_is_measured_and_the_same_command_goes_on(
    cli: StandInCli, tmp_path: Path
) -> None:
    a_history(tmp_path / "repository", ["seed=1", "seed=2", "seed=3"])
    (tmp_path / "history.yaml").write_text(SPEC.replace("invocations: 2", "invocations: 60"))
    with cli.start(*backfill(tmp_path)) as process:
        until(lambda: any((tmp_path / "home" / "runs").glob("*/results/*.ndjson")))
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130, err
    (run,) = cli("runs", "list", "--json").json()["runs"]
    assert run["state"] == "queued"
    assert 0 < run["invocations_stored"] < 60
    done = cli(*backfill(tmp_path))
    assert done.status == 0, done.err
    assert [one["state"] for one in done.json()["runs"]] == ["finished", "finished"]
    assert run["run_id"] in [one["run_id"] for one in done.json()["runs"]]
