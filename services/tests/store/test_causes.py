"""A store that does not open for what the machine lacks is whole, and says what to give it. Only damage moves it."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kexbench.store.causes import store_error

FOLDER = Path("/home/ada/store")
OPEN = """\
import sys
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import StoreError

store = ClickHouseStore(f"chdb://{sys.argv[1]}", "kexbench", EngineClauses())
try:
    store.migrate()
    print("opened", store.run_keys(1, None))
except StoreError as error:
    print(error, "| remedy:", error.remedy)
finally:
    store.close()
"""


@pytest.mark.parametrize(
    ("said", "cause", "remedy"),
    [
        (
            "Code: 298. DB::ErrnoException: Cannot create pipe: , errno: 24, strerror: Too many open files.",
            "too few files may be open",
            "ulimit -n",
        ),
        ("[Errno 24] Too many open files: '/home/ada/store/definitions'", "too few files may be open", "ulimit -n"),
        ("Code: 241. DB::Exception: (MEMORY_LIMIT_EXCEEDED)", "not enough memory", "memory"),
        ("chdb.so: failed to map segment from shared object", "not enough memory", "memory"),
        (
            "Cannot open file store/f, errno: 13, strerror: Permission denied",
            "may not use its files",
            "account of its owner",
        ),
        ("Cannot write to file, errno: 28, strerror: No space left on device", "its disk is full", "free some space"),
        ("Cannot open file, errno: 30, strerror: Read-only file system", "its disk is read-only", "writable"),
        ("Cannot open file: errno: 24 (while reading from part), CORRUPTED_DATA", "too few files", "ulimit -n"),
    ],
)
@pytest.mark.parametrize("what", ["does not open", "refused a query", "cannot be changed"])
def test_what_the_machine_lacks_moves_nothing(what: str, said: str, cause: str, remedy: str) -> None:
    error = store_error(FOLDER, what, f"Error initializing EmbeddedServer: .\n{said}")
    assert str(error).startswith(f"the store in {FOLDER} {what}: ")
    assert cause in str(error)
    assert remedy in error.remedy
    assert "move" not in error.remedy


def test_only_damage_that_the_engine_names_moves_the_store() -> None:
    damaged = "Waited job failed\nCode: 342. DB::Exception: format version. (METADATA_MISMATCH)\n7. ? @ 0x0"
    error = store_error(FOLDER, "does not open", f"Error initializing EmbeddedServer: .\n{damaged}")
    assert error.remedy.startswith(f"move {FOLDER} away")
    assert (
        str(error)
        == f"the store in {FOLDER} does not open: Code: 342. DB::Exception: format version. (METADATA_MISMATCH)"
    )
    assert "move" not in store_error(FOLDER, "does not open", "Error initializing EmbeddedServer: .").remedy


@pytest.mark.parametrize("said", ["Code: 62. DB::Exception: (SYNTAX_ERROR)", "Code: 41. (CANNOT_PARSE_DATETIME)"])
def test_a_query_that_the_engine_does_not_understand_damages_nothing(said: str) -> None:
    assert "move" in store_error(FOLDER, "does not open", said).remedy
    assert "move" not in store_error(FOLDER, "refused a query", said).remedy


def opened(folder: Path, *around: str) -> str:
    command = [*around, sys.executable, "-c", OPEN, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout


def changed(folder: Path, name: str, content: bytes) -> int:
    files = [path for path in folder.rglob(name) if not path.is_symlink()]
    for path in files:
        path.write_bytes(content)
    return len(files)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("around", "says"),
    [
        (("sh", "-c", 'ulimit -n 24; exec "$@"', "sh"), "too few files may be open at once, 24 here"),
        (("sh", "-c", 'ulimit -v 900000; exec "$@"', "sh"), "there is not enough memory"),
    ],
    ids=["24 files", "little memory"],
)
def test_a_healthy_store_that_lacks_something_says_what(around: Sequence[str], says: str, tmp_path: Path) -> None:
    assert opened(tmp_path).startswith("opened")
    said = opened(tmp_path, *around)
    assert says in said
    assert "move" not in said
    assert opened(tmp_path) == "opened []\n"


@pytest.mark.long
def test_a_store_opens_or_says_that_too_few_files_may_be_open(tmp_path: Path) -> None:
    """How many it needs depends on the machine's processors."""
    assert opened(tmp_path).startswith("opened")
    for most in range(20, 72, 4):
        said = opened(tmp_path, "sh", "-c", f'ulimit -n {most}; exec "$@"', "sh")
        assert said == "opened []\n" or f"too few files may be open at once, {most} here" in said
        assert "move" not in said


@pytest.mark.thorough
def test_one_byte_in_the_file_of_a_format_closes_no_store(tmp_path: Path) -> None:
    """Of every bit; the engine ends at each of them."""
    assert opened(tmp_path).startswith("opened")
    for content in (b"0", b"\xb1", b""):
        assert changed(tmp_path, "format_version.txt", content) > 10
        assert opened(tmp_path) == "opened []\n"
