"""A bisection that `kexbench serve` sees to, in the turns of its queue, over a real git repository. Its commits build a
stand-in that costs what they say."""

import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.runs import RunState
from tests.cli.conftest import TIMEOUT_S
from tests.cli.queueing import serving
from tests.cli.stand_in_git import StandInCli
from tests.cli.test_bisect import FEW, a_history, costs

pytestmark = [pytest.mark.skipif(shutil.which("git") is None, reason="no git"), pytest.mark.thorough]


@pytest.fixture
def cli(tmp_path: Path) -> StandInCli:
    return StandInCli(tmp_path)


@pytest.mark.long
def test_a_commit_is_found_in_the_turns_of_the_queue_though_the_service_is_killed_amid_it(
    cli: StandInCli, tmp_path: Path
) -> None:
    first = 4
    repository, hashes = a_history(tmp_path / "repository", costs(6, first, broken=(3,)))
    question = ["bisect", "fake", "good", "master", "--repository", str(repository.folder), *FEW, "--queued", "--json"]
    wanted = {"library": "fake", "repository": str(repository.folder), "good": "good", "bad": "master"}
    with serving(cli) as served:
        asked = served.ask("POST", "/bisections", {**wanted, "cases": [FEW[1]], "invocations": 6})
        served.hears("bisection ", "measuring run")
        ends = run_of_the_ends(served.ask("GET", f"/bisections/{asked['bisection_id']}"))
        served.hears(f"run {ends}: finished", "measuring run")
        os.kill(served.process.pid, signal.SIGKILL)
        served.process.wait(TIMEOUT_S)
    with serving(cli) as served:
        done = cli(*question)
        assert done.status == 0, done.err
        assert f"bisection {asked['bisection_id']}, requested " in done.err, "the same question is the same bisection"
        found = done.json()
        assert [commit["hash"] for commit in found["commits"]][-1] == hashes[first]
        detail = served.ask("GET", f"/bisections/{asked['bisection_id']}")
        runs = [one["run_id"] for one in detail["runs"]]
        assert set(Counter(runs).values()) == {1}
        stored = served.ask("GET", "/runs")["runs"]
        assert {run["run_id"] for run in stored} == set(runs), "no step was measured twice"
        assert {run["trigger"] for run in stored} == {"bisection"}

        (listed,) = cli("bisections", "list", "--json").json()["bisections"]
        assert (listed["state"], listed["detail"]) == ("found", found["says"])
        shown = cli("bisections", "show", asked["bisection_id"])
        assert shown.out.startswith(found["says"])
        assert cli("bisections", "cancel", asked["bisection_id"]).status == 1

        flat = cli(*question[:3], hashes[1], *question[4:])
        assert (flat.status, flat.json()["verdict"]) == (4, "cannot say")


def run_of_the_ends(detail: dict[str, Any]) -> str:
    """The run of the ends."""
    (run,) = detail["runs"]
    assert (run["number"], run["commit"]) == (0, None)
    assert run["state"] in (RunState.BUILDING, RunState.RUNNING)
    run_id: str = run["run_id"]
    return run_id


def test_nobody_would_see_to_it_where_no_service_runs(cli: StandInCli, tmp_path: Path) -> None:
    repository, _ = a_history(tmp_path / "repository", costs(2, 1))
    done = cli("bisect", "fake", "good", "master", "--repository", str(repository.folder), "--queued")
    assert done.status == 1
    assert "no kexbench serve runs here" in done.err
