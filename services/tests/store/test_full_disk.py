"""A disk that is full while an embedded store is made or changed: it opens again, with everything that it had."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.definitions import Definitions
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import StoreError, StoreFull
from kexbench.store.rights import grants
from tests.builders import a_run, an_invocation
from tests.store.conftest import SERVICES


def writer(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.store.writer", str(folder), *arguments]
    return subprocess.run(command, cwd=SERVICES, capture_output=True, text=True, check=False, timeout=300)


ON_A_SMALL_DISK = 'mkdir -p "$2" && mount -t tmpfs -o "size=${1}m" tmpfs "$2" && shift 2 && exec "$@"'
"""A program whose folder is on a disk of so many MiB."""
FULL = """
mount -t tmpfs -o "size=${1}k" tmpfs "$2"
if "$3" -m tests.store.writer "$2/store" add 3; then echo stored; fi
mount -o remount,size=1g "$2"
echo again
"$3" -m tests.store.writer "$2/store" add 3
"$3" -m tests.store.writer "$2/store" read
"""
"""A disk of so many KiB that is full, and then has space."""


def own_mounts_or_skip() -> list[str]:
    command = ["unshare", "--map-root-user", "--mount"]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"processes may not mount here: {tried.stderr.strip()}")
    return command


def stored(folder: Path) -> list[int]:
    done = writer(folder, "read")
    assert done.returncode == 0, done.stderr
    numbers: list[int] = json.loads(done.stdout)["invocations"]
    return numbers


@pytest.mark.parametrize("size_kib", [24, 60, *(pytest.param(size, marks=pytest.mark.long) for size in (8, 40, 1500))])
def test_a_store_that_could_not_be_made_is_made_when_there_is_space(tmp_path: Path, size_kib: int) -> None:
    """The sizes are too small for a definition, the copy of one, or the first rows."""
    command = [*own_mounts_or_skip(), "sh", "-ec", FULL, "sh", str(size_kib), str(tmp_path), sys.executable]
    done = subprocess.run(command, cwd=SERVICES, capture_output=True, text=True, check=True, timeout=300)
    acknowledged, again = done.stdout.split("again\n")
    assert acknowledged == ""
    *stored_again, read = again.splitlines()
    assert stored_again == ["0", "1", "2"]
    assert json.loads(read)["invocations"] == [0, 1, 2]


def fill(folder: Path, left_bytes: int) -> None:
    """Leaves so much space on the disk of the folder."""
    with (folder / "filler").open("ab") as filler:
        while (free := shutil.disk_usage(folder).free) > left_bytes:
            filler.write(bytes(min(1 << 20, free - left_bytes)))
            filler.flush()


def test_a_server_whose_disk_is_full_says_how_much_room_it_has_and_needs(tmp_path: Path) -> None:
    small = [*own_mounts_or_skip(), "sh", "-ec", ON_A_SMALL_DISK, "sh", "48", str(tmp_path), sys.executable]
    command = [*small, "-m", "tests.store.clickhouse_double", str(tmp_path), *grants("kexbench")]
    with subprocess.Popen(command, cwd=SERVICES, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        store = ClickHouseStore(f"http://127.0.0.1:{int(server.stdout.readline())}", "kexbench", EngineClauses())
        disk = Path(f"/proc/{server.pid}/root{tmp_path}")
        run, first, second = a_run(), *(an_invocation(a_run(), number, cpu_ns={"fake@1.0": [1]}) for number in (0, 1))
        try:
            store.migrate()
            store.add_run(run)
            store.add_invocation(run, first)
            fill(disk, 200 << 10)
            with pytest.raises(StoreFull, match=r"^the store has no room: [\d.]+ KiB free, 1.0 MiB needed$") as full:
                store.add_invocation(run, second)
            assert full.value.needed_bytes == 1 << 20
            assert full.value.free_bytes is not None
            assert full.value.free_bytes < 1 << 20
            assert "server" in full.value.remedy
            assert [size.size_bytes for size in store.disks()] == [48 << 20]
            (disk / "filler").unlink()
            store.add_invocation(run, second)
            assert {key.invocation for key in store.invocations(run.run_id)} == {0, 1}
        finally:
            store.close()
            server.terminate()


def test_a_definition_that_the_engine_left_empty_is_restored(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    assert writer(folder, "add", "3").returncode == 0
    definition = next((folder / "metadata").glob("*/samples.sql"))
    content = definition.read_bytes()
    definition.write_bytes(b"")
    assert stored(folder) == [0, 1, 2]
    assert definition.read_bytes() == content


def defined(folder: Path, table: str, content: str) -> Path:
    file = folder / "metadata" / "kexbench" / f"{table}.sql"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


def test_a_table_that_was_about_to_be_created_is_not_there(tmp_path: Path) -> None:
    definitions = Definitions(tmp_path, "kexbench")
    runs = defined(tmp_path, "runs", "ATTACH TABLE runs\n")
    definitions.copy()
    created = defined(tmp_path, "hosts", "ATTACH TAB")
    with pytest.raises(StoreError, match="the definition of hosts was not written"):
        definitions.check()
    definitions.restore()
    definitions.check()
    assert (runs.read_text(), created.exists()) == ("ATTACH TABLE runs\n", False)


def test_nothing_is_removed_from_a_store_of_which_nothing_is_known(tmp_path: Path) -> None:
    runs = defined(tmp_path, "runs", "")
    definitions = Definitions(tmp_path, "kexbench")
    for _ in range(2):  # services are started again by themselves
        definitions.restore()
        with pytest.raises(StoreError, match="the definition of runs is incomplete") as raised:
            definitions.copy()
        assert raised.value.remedy.startswith("move ")
    assert runs.exists()


def test_a_database_that_has_tables_is_not_removed(tmp_path: Path) -> None:
    defined(tmp_path, "runs", "ATTACH TABLE runs\n")
    definitions = Definitions(tmp_path, "kexbench")
    definitions.copy()
    database = tmp_path / "metadata" / "kexbench.sql"
    database.write_bytes(b"")
    definitions.restore()
    assert database.exists()


def test_a_dropped_table_does_not_come_back(tmp_path: Path) -> None:
    definitions = Definitions(tmp_path, "kexbench")
    runs = defined(tmp_path, "runs", "ATTACH TABLE runs\n")
    definitions.copy()
    runs.unlink()
    definitions.forget_dropped()
    defined(tmp_path, "runs", "")
    definitions.restore()
    assert not runs.exists()


MIGRATING_BADLY = """\
import sys
from pathlib import Path
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import StoreError

class Store(ClickHouseStore):
    def _command(self, sql, parameters=None, client=None):
        super()._command(sql, parameters, client)
        if sql.startswith("ALTER TABLE samples"):
            (Path(sys.argv[1]) / "metadata" / "kexbench" / "samples.sql").write_bytes(b"")

try:
    Store(f"chdb://{sys.argv[1]}", "kexbench", EngineClauses()).migrate()
except StoreError as error:
    print(error)
"""


def test_a_migration_ends_at_the_first_definition_that_was_not_written(tmp_path: Path) -> None:
    """Also if there is space again a moment later: then the next statement would succeed."""
    folder = tmp_path / "store"
    done = subprocess.run(
        [sys.executable, "-c", MIGRATING_BADLY, str(folder)], capture_output=True, text=True, check=True, timeout=300
    )
    assert "the definition of samples was not written" in done.stdout
    assert writer(folder, "add", "3").stdout.split() == ["0", "1", "2"]
    assert stored(folder) == [0, 1, 2]
