"""A run that a command asked for is one of the queue: a service measures it while the command follows, or the command
measures it itself, and whoever comes next goes on with what a killed command left."""

import os
import signal
from collections import Counter

import pytest

from kexbench.execution.folder import RunFolder
from tests.cli.conftest import TIMEOUT_S, Cli, stock
from tests.cli.queueing import serving
from tests.conftest import FakeKit

pytestmark = pytest.mark.thorough

STEADY, SLOWER = "1.0+noise=0", "1.1+noise=0+step=1.02"


@pytest.fixture
def cli(cli: Cli, fake_kit: FakeKit) -> Cli:
    """Whose kit store has the kits already."""
    stock(cli, fake_kit, STEADY, SLOWER)
    return cli


def killed_half_way(cli: Cli) -> str:
    """The run of a command that was killed while it measured."""
    process = cli.start("run", cli.spec("long", STEADY, invocations=40))
    assert process.stderr is not None
    next(line for line in process.stderr if line.startswith("measured "))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=TIMEOUT_S)
    (folder,) = (cli.folder / "home" / "runs").iterdir()
    return folder.name


def measured(cli: Cli, run_id: str) -> Counter[tuple[str, str, int]]:
    """How often each invocation stands in the run's files."""
    folder = RunFolder(cli.folder / "home" / "runs" / run_id)
    return Counter((each.job_id, each.case_id, each.invocation) for each in folder.invocations(folder.run()))


def states(cli: Cli, run_id: str) -> list[str]:
    return [event["state"] for event in cli("runs", "show", run_id, "--json").json()["events"]]


@pytest.mark.long
def test_a_run_at_a_service_waits_in_its_queue_is_followed_and_printed(cli: Cli) -> None:
    with serving(cli) as served:
        done = cli("run", cli.spec("steady", STEADY, SLOWER))
        assert done.status == 0, done.err
        assert "slower" in " ".join(done.out.split())
        assert "finished: 12 of 12 invocations" in done.err
        (run,) = served.ask("GET", "/runs")["runs"]
        assert (run["trigger"], run["state"]) == ("api", "finished")
        events = served.ask("GET", f"/runs/{run['run_id']}")["events"]
        assert [event["state"] for event in events] == ["queued", "building", "running", "finished"]
        assert (served.home / "runs" / run["run_id"] / "measuring.log").exists(), "the service measured it"
        again = cli("run", "--resume", run["run_id"], "--json")
        assert (again.status, again.json()["summary"]["run_id"]) == (0, run["run_id"])


@pytest.mark.long
def test_a_comparison_at_a_service_may_name_what_no_catalogue_has_and_says_why_it_failed(cli: Cli) -> None:
    with serving(cli) as served:
        compared = cli("compare", f"fake@{STEADY}", f"fake@{SLOWER}", "--case", "*_ecdhe-ecdsa_*", "--invocations", "3")
        assert compared.status == 3, compared.err
        assert "slower" in compared.out
        failed = cli("compare", "openssl@git:/nowhere#master", "openssl@git:/nowhere#mine")
        assert failed.status == 1
        assert "there is no repository /nowhere" in failed.err
        assert [run["state"] for run in served.ask("GET", "/runs")["runs"]] == ["failed", "finished"]


@pytest.mark.long
def test_ctrl_c_ends_the_following_of_a_run_and_says_how_to_end_the_run(cli: Cli) -> None:
    with serving(cli) as served:
        process = cli.start("run", cli.spec("long", STEADY, invocations=400))
        assert process.stderr is not None
        run_id = next(line for line in process.stderr if line.startswith("run ")).split()[1].rstrip(":")
        served.until_it_measures(run_id)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 130, err
        assert f"kexbench runs cancel {run_id}" in err
        assert served.summary(run_id)["state"] == "running"
        assert cli("runs", "cancel", run_id, "--wait").status == 0


@pytest.mark.long
def test_two_commands_at_once_measure_one_after_the_other(cli: Cli) -> None:
    first = cli.start("run", cli.spec("first", STEADY, invocations=20))
    assert first.stderr is not None
    next(line for line in first.stderr if line.startswith("measured "))
    second = cli("run", cli.spec("second", STEADY, invocations=2))
    assert second.status == 0, second.err
    assert f"waiting for process {first.pid}, which measures run " in second.err
    _, err = first.communicate(timeout=TIMEOUT_S)
    assert first.returncode == 0, err
    runs = {run["spec_name"]: run for run in cli("runs", "list", "--json").json()["runs"]}
    assert [(runs[name]["state"], runs[name]["invocations_stored"]) for name in ("first", "second")] == [
        ("finished", 40),
        ("finished", 4),
    ]


@pytest.mark.long
def test_the_next_service_goes_on_with_the_run_of_a_killed_command(cli: Cli) -> None:
    run_id = killed_half_way(cli)
    with serving(cli) as served:
        served.hears(f"run {run_id}: finished")
        assert served.summary(run_id)["invocations_stored"] == 80
        assert set(measured(cli, run_id).values()) == {1}


@pytest.mark.long
def test_a_killed_command_leaves_a_run_that_resuming_finishes(cli: Cli) -> None:
    run_id = killed_half_way(cli)
    resumed = cli("run", "--resume", run_id)
    assert resumed.status == 0, resumed.err
    assert len(found := measured(cli, run_id)) == 80
    assert set(found.values()) == {1}
    assert states(cli, run_id)[:2] == ["queued", "building"]
    assert states(cli, run_id)[-1] == "finished"


@pytest.mark.long
def test_a_service_that_starts_beside_a_command_leaves_its_run_alone(cli: Cli) -> None:
    command = cli.start("run", cli.spec("long", STEADY, invocations=1000))
    assert command.stderr is not None
    next(line for line in command.stderr if line.startswith("measured "))
    (folder,) = (cli.folder / "home" / "runs").iterdir()
    with serving(cli) as served:
        refused = served.http.post(f"/runs/{folder.name}/cancel")
        assert (refused.status_code, "by a command on its machine" in refused.text) == (409, True)
        os.killpg(command.pid, signal.SIGINT)
        _, err = command.communicate(timeout=TIMEOUT_S)
        assert command.returncode == 130, err
        assert served.summary(folder.name)["state"] == "cancelled"
        assert not (folder / "measuring.log").exists(), "the service never measured it"


@pytest.mark.long
def test_a_run_whose_kit_cannot_be_made_has_failed_and_says_why(cli: Cli) -> None:
    done = cli("run", cli.spec("unbuilt", "1.0+speed=9"))
    assert (done.status, "unknown setting" in done.err) == (1, True)
    (run,) = cli("runs", "list", "--json").json()["runs"]
    assert (run["state"], "unknown setting" in run["detail"]) == ("failed", True)
