"""`kexbench serve` measures its queue: in order, each run once, whatever is killed, cancelled or broken."""

import os
import shutil
import signal
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from kexbench.execution.folder import RunFolder
from tests.cli.conftest import TIMEOUT_S, Cli, stock
from tests.cli.queueing import Serving, in_the_store, serving, until
from tests.conftest import FakeKit

pytestmark = pytest.mark.thorough

STEADY = "1.0+noise=0"
QUEUE = """
for name, trigger in (("late", Trigger.BACKFILL), ("usual", Trigger.API), ("review", Trigger.PULL_REQUEST)):
    text = Path(sys.argv[1]).read_text().replace("name: spec", f"name: {name}")
    queue_run(store, name, trigger, text, installation.supplies(store).plan(text, "spec.yaml"))
"""
LEFT = """
text = Path(sys.argv[1]).read_text()
queue_run(store, "left", Trigger.API, text, installation.supplies(store).plan(text, "spec.yaml"))
store.add_event(RunEvent(run_id="left", at=datetime.now(UTC), state=RunState.RUNNING, detail=""))
"""
MISSED = """
text = Path(sys.argv[1]).read_text() + 'schedule: "0 3 * * *"\\n'
added = datetime.now(UTC) - timedelta(days=9)
store.add_schedule(Schedule(name="spec", cron="0 3 * * *", spec_text=text, changed_at=added, changed_by="alice"))
"""


@pytest.fixture
def cli(cli: Cli, fake_kit: FakeKit) -> Cli:
    """Whose kit store has the kit already."""
    stock(cli, fake_kit, STEADY)
    return cli


def measured(served: Serving, run_id: str) -> Counter[tuple[str, str, int]]:
    """How often each invocation stands in the run's files."""
    folder = RunFolder(served.home / "runs" / run_id)
    found = folder.invocations(folder.run())
    return Counter((one.job_id, one.case_id, one.invocation) for one in found)


@pytest.mark.long
def test_what_waits_is_measured_in_its_order_and_each_run_once(cli: Cli) -> None:
    in_the_store(cli, QUEUE, cli.spec("spec", STEADY, invocations=2))
    with serving(cli) as served:
        served.hears(*(f"{words} run {run}" for run in ("review", "usual", "late") for words in ("measuring",)))
        served.hears("run late: finished")
        assert served.ask("GET", "/queue") == {"runs": []}
        for run_id in ("review", "usual", "late"):
            assert served.summary(run_id)["invocations_stored"] == 4
            assert set(measured(served, run_id).values()) == {1}
            states = [event["state"] for event in served.ask("GET", f"/runs/{run_id}")["events"]]
            assert states == ["queued", "building", "running", "finished"]


def test_a_service_that_ends_or_is_killed_while_it_measures_loses_and_doubles_nothing(cli: Cli) -> None:
    long = cli.spec("long", STEADY, invocations=60)
    with serving(cli) as served:
        run_id = served.submit(long)
        served.until_it_measures(run_id)
        os.kill(served.process.pid, signal.SIGINT)
        served.hears(f"run {run_id}: queued: interrupted")
        served.process.wait(TIMEOUT_S)
        ended_with = sum(measured(served, run_id).values())
    assert 0 < ended_with < 120
    with serving(cli) as served:
        assert served.summary(run_id)["invocations_stored"] == ended_with
        served.hears(f"measuring run {run_id}")
        until(lambda: sum(measured(served, run_id).values()) > ended_with)
        served.process.kill()
        served.process.wait(TIMEOUT_S)
    with serving(cli) as served:
        served.hears(f"run {run_id}: finished")
        assert served.summary(run_id)["invocations_stored"] == 120
        assert len(found := measured(served, run_id)) == 120
        assert set(found.values()) == {1}


@pytest.mark.long
def test_a_run_is_cancelled_while_it_waits_and_while_it_is_measured_and_then_resumed(cli: Cli) -> None:
    with serving(cli) as served:
        begun = served.submit(cli.spec("long", STEADY, invocations=60))
        waits = served.submit(cli.spec("spec", STEADY, invocations=2))
        served.until_it_measures(begun)
        assert served.ask("POST", f"/runs/{waits}/cancel")["state"] == "cancelled"
        assert served.ask("POST", f"/runs/{begun}/cancel")["state"] == "cancelling"
        served.hears(f"run {begun}: cancelled: results so far are kept")
        assert 0 < served.summary(begun)["invocations_stored"] < 120
        assert not (served.home / "runs" / waits).exists()
        served.ask("POST", f"/runs/{begun}/resume")
        served.hears(f"run {begun}: finished")
        assert set(measured(served, begun).values()) == {1}
        assert served.summary(begun)["invocations_stored"] == 120


@pytest.mark.long
def test_a_run_that_fails_says_why_and_holds_up_no_other(cli: Cli) -> None:
    with serving(cli) as served:
        unbuilt = served.submit(cli.spec("unbuilt", "1.0+speed=9"))
        killed = served.submit(cli.spec("killed", STEADY, invocations=60))
        whole = served.submit(cli.spec("whole", STEADY, invocations=2))
        (failed,) = served.hears(f"run {unbuilt}: failed")
        assert "unknown setting" in failed
        served.until_it_measures(killed)
        owner = (served.home / "measuring.lock").read_text().split()[1].rstrip(",")
        os.kill(int(owner), signal.SIGKILL)
        served.hears(f"run {killed}: failed: the measuring process was ended by signal 9")
        served.hears(f"run {whole}: finished")
        assert "unknown setting" in served.summary(unbuilt)["detail"]
        assert served.summary(killed)["invocations_stored"] > 0
        shutil.rmtree(served.home / "runs" / killed)
        served.ask("POST", f"/runs/{killed}/resume")
        served.hears(f"run {killed}: failed: the results of run {killed} are no longer in")


@pytest.mark.long
def test_a_schedules_missed_times_are_caught_up_once(cli: Cli) -> None:
    in_the_store(cli, MISSED, cli.spec("spec", STEADY, invocations=2))
    with serving(cli) as served:
        served.hears("measuring run once-", "run once-")
    with serving(cli) as served:
        run_id = served.submit(cli.spec("other", STEADY, invocations=2))
        served.hears(f"run {run_id}: finished")
        runs = served.ask("GET", "/runs")["runs"]
        assert [(run["trigger"], run["state"]) for run in runs] == [("api", "finished"), ("schedule", "finished")]


@pytest.mark.long
def test_where_no_service_sees_to_a_run_nobody_waits_for_its_end_and_the_next_service_ends_it(cli: Cli) -> None:
    in_the_store(cli, LEFT, cli.spec("spec", STEADY, invocations=2))
    cancelled = cli("runs", "cancel", "left", "--wait")
    assert cancelled.status == 1
    assert "cancelling" in cancelled.out
    assert "no kexbench serve runs here" in cancelled.err
    with serving(cli) as served:
        until(lambda: served.summary("left")["state"] == "cancelled")


@pytest.mark.long
def test_the_command_line_asks_the_service_of_this_machine(cli: Cli) -> None:
    spec = cli.spec("spec", STEADY, invocations=2)
    refused = cli("submit", spec)
    assert refused.status == 1
    assert "no kexbench serve runs here" in refused.err
    with cli.serving() as (_, url):
        asked = cli("submit", spec, "--wait")
        assert asked.status == 0, asked.err
        run_id = asked.out.split()[0]
        assert f"{url}/runs/{run_id}" in asked.err
        assert "the queue is empty" in cli("queue").out
        assert cli("queue", "--json").json() == {"runs": []}
        token = cli("token").out.strip()
        cancelled = httpx2.post(
            f"{url}/api/v1/runs/{run_id}/cancel", headers={"Authorization": f"Bearer {token}"}, trust_env=False
        )
        assert "there is nothing to cancel" in cancelled.json()["detail"]
        again = cli("runs", "resume", run_id)
        assert again.status == 1
        assert "has all its invocations" in again.err


def cpus_of(process: int) -> set[frozenset[int]]:
    """Those that the threads of a process may use."""
    return {frozenset(os.sched_getaffinity(int(thread.name))) for thread in Path(f"/proc/{process}/task").iterdir()}


@pytest.mark.long
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU is for all")
def test_no_thread_of_the_service_runs_where_a_run_is_measured_and_the_run_has_every_cpu(cli: Cli) -> None:
    every = frozenset(os.sched_getaffinity(0))
    with serving(cli) as served:
        run_id = served.submit(cli.spec("long", STEADY, invocations=60))
        served.until_it_measures(run_id)
        served.ask("GET", "/runs")
        assert not any(max(every) in allowed for allowed in cpus_of(served.process.pid))
        children = Path(f"/proc/{served.process.pid}/task").glob("*/children")
        (measuring,) = {int(word) for file in children for word in file.read_text().split()}
        assert frozenset(os.sched_getaffinity(measuring)) == every
