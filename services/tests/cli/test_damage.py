"""A damaged run keeps nobody from the others: `serve` starts, and says which file it is and what to do. A full disk
keeps nobody waiting."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import TIMEOUT_S, Cli, stock
from tests.conftest import FakeKit
from tests.execution.test_damage import keep, nul_tail
from tests.store.test_full_disk import own_mounts_or_skip

pytestmark = pytest.mark.thorough


@pytest.mark.long
def test_serve_starts_beside_a_damaged_run_and_says_which_file_it_is(cli: Cli) -> None:
    runs = cli.folder / "home" / "runs"
    keep(runs, "healthy", 1000)
    damaged = keep(runs, "damaged", 1000)
    nul_tail(damaged.path / "run.json")
    process = cli.start("serve", "--port", "0")
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "serving http" in line:
                break
        assert any("run healthy had left on disk" in line for line in said), said
        assert any(str(damaged.path / "run.json") in line for line in said), said
        assert any("remedy: " in line for line in said)
        api = next(word for word in said[-1].split() if word.startswith("http")) + "/api/v1"
        assert [run["run_id"] for run in httpx2.get(f"{api}/runs").json()["runs"]] == ["healthy"]
        health = httpx2.get(f"{api}/health").json()
        assert health["status"] == "impaired"
        assert [(trouble["part"], str(damaged.path) in trouble["reason"]) for trouble in health["troubles"]] == [
            ("results", True)
        ]
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)


def cut_parts(home: Path) -> set[str]:
    """Half of every part is gone, as after a power cut; the tables that had any."""
    damaged = set()
    for data in (home / "store" / "data" / "kexbench").glob("*/*/data.bin"):
        if data.parent.name != "detached":
            os.truncate(data, data.stat().st_size // 2)
            damaged.add(data.parent.parent.name)
    return damaged


def test_a_store_whose_parts_are_damaged_says_so_and_has_again_what_the_runs_hold(cli: Cli, fake_kit: FakeKit) -> None:
    stock(cli, fake_kit, "1.0+noise=0")
    assert cli("run", cli.spec("spec", "1.0+noise=0", invocations=3)).status == 0
    listed, exported = cli("runs", "list", "--json").json(), cli("export", "--format", "json").json()
    assert len(exported) == 6
    assert {"runs", "samples", "invocations", "run_events"} <= cut_parts(cli.folder / "home")
    with cli.serving() as (_, url):
        health = httpx2.get(f"{url}/api/v1/health", trust_env=False).json()
        assert health["status"] == "impaired"
        (trouble,) = health["troubles"]
        assert (trouble["part"], "1 run was restored" in trouble["reason"]) == ("store", True)
        assert "samples" in trouble["reason"]
    assert cli("runs", "list", "--json").json() == listed
    assert cli("export", "--format", "json").json() == exported
    with cli.serving() as (_, url):
        assert httpx2.get(f"{url}/api/v1/health", trust_env=False).json()["status"] == "ok"


def remove_parts(home: Path) -> None:
    for data in (home / "store" / "data" / "kexbench").glob("*/*/data.bin"):
        if data.parent.name != "detached":
            shutil.rmtree(data.parent)


def remove_store(home: Path) -> None:
    shutil.rmtree(home / "store")


@pytest.mark.long
@pytest.mark.parametrize("lose", [remove_parts, remove_store])
def test_runs_that_a_store_lost_without_a_trace_are_stored_again_and_reported(
    cli: Cli, fake_kit: FakeKit, lose: Callable[[Path], None]
) -> None:
    stock(cli, fake_kit, "1.0+noise=0")
    assert cli("run", cli.spec("spec", "1.0+noise=0", invocations=3)).status == 0
    listed, exported = cli("runs", "list", "--json").json(), cli("export", "--format", "json").json()
    assert len(exported) == 6
    lose(cli.folder / "home")
    with cli.serving() as (_, url):
        health = httpx2.get(f"{url}/api/v1/health", trust_env=False).json()
        (trouble,) = health["troubles"]
        assert trouble["reason"].startswith("the store lacks runs that it had acknowledged. 1 run was restored")
    assert cli("runs", "list", "--json").json() == listed
    assert cli("export", "--format", "json").json() == exported


def zero_parts(home: Path) -> None:
    """Of the length that they had, as a file whose blocks never reached the disk."""
    for data in (home / "store" / "data" / "kexbench").glob("*/*/data.bin"):
        if data.parent.name != "detached":
            data.write_bytes(bytes(data.stat().st_size))


def empty_tables(home: Path) -> None:
    for table in (home / "store").rglob("*.sql"):
        table.write_bytes(b"")


@pytest.mark.long
@pytest.mark.parametrize("damage", [zero_parts, empty_tables])
def test_the_remedy_for_a_store_that_cannot_be_read_works(
    cli: Cli, fake_kit: FakeKit, damage: Callable[[Path], None]
) -> None:
    stock(cli, fake_kit, "1.0+noise=0")
    assert cli("run", cli.spec("spec", "1.0+noise=0", invocations=3)).status == 0
    exported = cli("export", "--format", "json").json()
    store = cli.folder / "home" / "store"
    damage(cli.folder / "home")
    done = cli("runs", "list")
    assert (done.status, f"remedy: move {store} away" in done.err) == (1, True), done.err
    store.rename(cli.folder / "damaged")
    assert cli("export", "--format", "json").json() == exported


FULL = """
mount -t tmpfs -o size=40m tmpfs "$KEXBENCH_HOME"
"$1" runs list
cat /dev/zero > "$KEXBENCH_HOME/full"
exec "$@"
"""


@pytest.mark.long
@pytest.mark.parametrize("command", ["runs list", "serve --port 0"])
def test_on_a_full_disk_a_command_says_so_and_ends(cli: Cli, command: str) -> None:
    (cli.folder / "home").mkdir()
    kexbench, *_ = cli.command()
    script = [*own_mounts_or_skip(), "sh", "-c", FULL, "sh", kexbench, *command.split()]
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=cli.environment, timeout=TIMEOUT_S)
    assert done.returncode == 1, done.stderr
    assert "store.lock: No space left on device\n  remedy: free some space" in done.stderr
    assert "Traceback" not in done.stderr
