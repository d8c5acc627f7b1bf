"""A disk that is full while an embedded store is made or changed: it opens again, with everything that it had."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kexbench.store.definitions import Definitions
from kexbench.store.port import StoreError
from tests.store.conftest import SERVICES
from tests.tracing import strace_or_skip

pytestmark = pytest.mark.xdist_group("store")


def writer(folder: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    command = [*prefix, sys.executable, "-m", "tests.store.writer", str(folder), *arguments]
    return subprocess.run(command, cwd=SERVICES, capture_output=True, text=True, check=False, timeout=300)


def full_after(writes: int) -> tuple[str, ...]:
    """No thread writes more often than this to a file."""
    calls = "write,pwrite64,writev"
    injection = f"inject={calls}:error=ENOSPC:when={writes}+"
    return strace_or_skip(), "-f", "-o", os.devnull, "-e", f"trace={calls}", "-e", injection


def stored(folder: Path) -> list[int]:
    done = writer(folder, "read")
    assert done.returncode == 0, done.stderr
    numbers: list[int] = json.loads(done.stdout)["invocations"]
    return numbers


@pytest.mark.parametrize(
    "writes", [5, 21, *(pytest.param(writes, marks=pytest.mark.thorough) for writes in (9, 13, 29, 50))]
)
def test_a_store_that_could_not_be_made_is_made_when_there_is_space(tmp_path: Path, writes: int) -> None:
    folder = tmp_path / "store"
    failed = writer(folder, "add", "3", prefix=full_after(writes))
    assert failed.returncode != 0
    assert failed.stdout == "", "nothing was acknowledged"
    assert writer(folder, "add", "3").stdout.split() == ["0", "1", "2"]
    assert stored(folder) == [0, 1, 2]


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
    definitions.mend()
    definitions.check()
    assert (runs.read_text(), created.exists()) == ("ATTACH TABLE runs\n", False)


def test_nothing_is_removed_from_a_store_of_which_nothing_is_known(tmp_path: Path) -> None:
    runs = defined(tmp_path, "runs", "")
    Definitions(tmp_path, "kexbench").mend()
    assert runs.exists()
