"""`kexbench backup` and `kexbench restore` as a person uses them, with kills anywhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import TIMEOUT_S, Cli
from tests.cli.queueing import in_the_store, serving
from tests.cli.test_adding import PLANNED, RUN
from tests.cli.test_adding import Elsewhere as RunsElsewhere

MEASURED = """
from tests.builders import a_run, an_alert_event, an_invocation
run = a_run()
store.add_run(run)
for number in range(3):
    costs = {"fake@1.0": [10 + number, 12, 14], "fake@1.1": [11 + number, 13, 12]}
    store.add_invocation(run, an_invocation(run, number, cpu_ns=costs))
store.add_alert_event(an_alert_event())
"""
PLACES = (("inserting", 1), ("inserting", 19), ("writing", 1), ("writing", 2), ("ending", 1))
DYING_SERVICE = """
import os, signal
from kexbench.service.reach import own_store
from kexbench.service.serving import Service
from kexbench.settings import Settings
from kexbench.wiring import Installation

class Dying(Installation):
    def backup(self, store):
        yield next(super().backup(store))
        os.kill(os.getpid(), signal.SIGKILL)

settings = Settings()
service = Service(Dying(settings), own_store(settings), "127.0.0.1", 0)
with service.background():
    print("serving", flush=True)
    signal.pause()
"""
KILLED = """
import os, signal, sys
place, number = sys.argv[1], int(sys.argv[2])
from kexbench.client import ApiClient
from kexbench.execution import from_backup
from kexbench.store.clickhouse import ClickHouseStore
calls = []

def counted():
    calls.append(place)
    if len(calls) == number:
        os.kill(os.getpid(), signal.SIGKILL)

def counting(owner, name):
    original = getattr(owner, name)
    def called(*given, **named):
        counted()
        return original(*given, **named)
    setattr(owner, name, called)

stream = ApiClient.stream
def pieces(*given):
    for piece in stream(*given):
        yield piece
        counted()

if place == "receiving":
    ApiClient.stream = pieces
elif place == "inserting":
    counting(ClickHouseStore, "put_back")
elif place == "writing":
    counting(from_backup, "write_whole")
else:
    counting(ClickHouseStore, "end_restore")
from kexbench.cli.main import main
sys.argv = ["kexbench", *sys.argv[3:]]
main()
"""


def killed(cli: Cli, place: str, number: int, *arguments: str) -> None:
    command = [sys.executable, "-c", KILLED, place, str(number), *arguments]
    done = subprocess.run(command, env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == -9, done.stderr


@pytest.fixture
def elsewhere(tmp_path: Path) -> Cli:
    """Another home."""
    (tmp_path / "elsewhere").mkdir()
    return Cli(tmp_path / "elsewhere")


def exported(cli: Cli) -> list[str]:
    return sorted(cli("export").out.splitlines())


def test_a_backup_of_a_running_service_is_restored_elsewhere(cli: Cli, elsewhere: Cli, tmp_path: Path) -> None:
    in_the_store(cli, MEASURED)
    RunsElsewhere(cli.folder / "home" / "runs")(RUN)
    (cli.folder / "home" / "runs" / RUN / "delivered").unlink()
    file = tmp_path / "kexbench.tar"
    with serving(cli):
        made = cli("backup", str(file), "--json")
        secret = json.loads((cli.folder / "home" / "store.lock").read_bytes())["secret"]
    assert secret.encode() not in file.read_bytes()
    assert made.status == 0, made.err
    assert made.json()["rows"]["alert_events"] == 1
    again = elsewhere("restore", str(file))
    assert again.status == 0, again.err
    assert again.out.startswith(f"restored into {elsewhere.folder / 'home' / 'store'}\n")
    assert "\n  without the folders of runs that are in the store, kits" in again.out
    assert exported(elsewhere) == exported(cli)
    assert len(exported(cli)) > 6
    refused = elsewhere("restore", str(file))
    assert refused.status == 1
    assert "the store is not empty: it has rows of alert_events" in refused.err
    assert "  remedy: set KEXBENCH_STORE_DATABASE to a new database, or KEXBENCH_HOME to a new folder" in refused.err


def test_results_that_were_not_stored_yet_are_stored_after_a_restore(cli: Cli, elsewhere: Cli, tmp_path: Path) -> None:
    file = tmp_path / "kexbench.tar"
    source = RunsElsewhere(cli.folder / "home" / "runs")(RUN)
    (source / "delivered").unlink()
    made = cli("backup", str(file), "--json").json()
    assert (made["rows"]["runs"], made["undelivered_runs"]) == (0, [RUN])
    assert elsewhere("restore", str(file)).status == 0
    with serving(elsewhere) as served:
        assert [run["run_id"] for run in served.ask("GET", "/runs")["runs"]] == [RUN]
        assert served.summary(RUN)["invocations_stored"] == PLANNED


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 2])
def test_a_backup_that_is_killed_leaves_no_half_file(cli: Cli, tmp_path: Path, number: int) -> None:
    in_the_store(cli, MEASURED)
    file = tmp_path / "backups" / "kexbench.tar"
    file.parent.mkdir()
    killed(cli, "receiving", number, "backup", str(file))
    assert not file.exists()
    assert cli("backup", str(file)).status == 0
    assert [path.name for path in file.parent.iterdir()] == ["kexbench.tar"]
    before = file.read_bytes()
    killed(cli, "receiving", number, "backup", str(file))
    assert file.read_bytes() == before


def test_a_backup_whose_service_is_killed_fails_and_leaves_no_file(cli: Cli, tmp_path: Path) -> None:
    in_the_store(cli, MEASURED)
    file = tmp_path / "kexbench.tar"
    with subprocess.Popen(
        [sys.executable, "-c", DYING_SERVICE], env=cli.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == b"serving\n"
        failed = cli("backup", str(file))
        assert service.wait(TIMEOUT_S) == -9
    assert failed.status == 1
    assert "the service does not answer" in failed.err
    assert [path.name for path in tmp_path.iterdir() if "tar" in path.name] == []


@pytest.mark.parametrize(
    ("place", "number"),
    [("inserting", 5), *(pytest.param(*each, marks=pytest.mark.long) for each in PLACES)],
)
def test_a_second_restore_completes_one_that_was_killed(
    cli: Cli, elsewhere: Cli, tmp_path: Path, place: str, number: int
) -> None:
    in_the_store(cli, MEASURED)
    source = RunsElsewhere(cli.folder / "home" / "runs")(RUN)
    (source / "delivered").unlink()
    file = tmp_path / "kexbench.tar"
    assert cli("backup", str(file)).status == 0
    killed(elsewhere, place, number, "restore", str(file))
    unfinished = elsewhere("runs", "list")
    assert unfinished.status == 1
    assert "a restore into this store has not finished" in unfinished.err
    assert "  remedy: repeat kexbench restore with the same backup" in unfinished.err
    assert elsewhere("restore", str(file)).status == 0
    assert exported(elsewhere) == exported(cli)
    waiting = elsewhere.folder / "home" / "runs" / RUN
    assert (waiting / "run.json").read_bytes() == (source / "run.json").read_bytes()


@pytest.mark.parametrize("verb", ["backup", "restore"])
def test_a_file_that_cannot_be_is_wrong_usage(cli: Cli, tmp_path: Path, verb: str) -> None:
    assert cli(verb, str(tmp_path / "missing" / "file")).status == 2
    assert cli(verb, str(tmp_path)).status == 2


def test_a_restore_beside_a_running_service_is_refused(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "kexbench.tar"
    with cli.serving() as (service, url):
        assert cli("backup", str(file)).status == 0
        refused = cli("restore", str(file))
    assert refused.status == 1
    assert refused.err.strip() == f"process {service.pid} already serves this store at {url}"
