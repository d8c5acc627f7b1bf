"""kill -9 of a process that is storing: what was acknowledged as stored is there, whole; the rest can be repeated."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import SERVICES
from tests.store.writer import COUNT
from tests.tracing import strace_or_skip

TIMEOUT_S = 120


def writer(folder: Path, verb: str) -> list[str]:
    return [sys.executable, "-m", "tests.store.writer", str(folder), verb]


def read(folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        writer(folder, "read"), cwd=SERVICES, capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.thorough
def test_a_writer_killed_at_any_moment_leaves_whole_invocations_and_all_it_acknowledged(tmp_path: Path) -> None:
    acknowledged = []
    with subprocess.Popen(writer(tmp_path, "add"), cwd=SERVICES, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged.append(int(line))
            if len(acknowledged) == 25:
                process.send_signal(signal.SIGKILL)
    assert 25 <= len(acknowledged) < COUNT
    found = read(tmp_path)
    assert set(acknowledged) <= set(found["invocations"])
    assert found["invocations"] == list(range(len(found["invocations"])))
    assert found["exported"] == [[number, version] for number in found["invocations"] for version in ("1.0", "1.1")]
    assert found["medians"] == len(found["exported"])

    subprocess.run(writer(tmp_path, "add"), cwd=SERVICES, capture_output=True, check=True, timeout=TIMEOUT_S)
    repeated = read(tmp_path)
    assert repeated["invocations"] == list(range(COUNT))
    assert repeated["medians"] == len(repeated["exported"]) == 2 * COUNT


def added(folder: Path, count: int, *prefix: str) -> list[str]:
    """What it acknowledged."""
    command = [*prefix, *writer(folder, "add"), str(count)]
    done = subprocess.run(command, cwd=SERVICES, stdout=subprocess.PIPE, text=True, check=False, timeout=TIMEOUT_S)
    return done.stdout.split()


@pytest.mark.parametrize(("table", "first_name"), [("samples", "202601_2_2_0"), ("invocations", "all_2_2_1")])
def test_what_was_being_inserted_at_a_kill_is_whole_when_it_is_inserted_again(
    tmp_path: Path, table: str, first_name: str
) -> None:
    """The engine names the files of an insert last, and may remember the insert before. Their first name has the number
    of the insert since the store was opened."""
    folder = tmp_path / "store"
    assert added(folder, 1) == ["0"]
    second = f"{(folder / 'data' / 'kexbench' / table).resolve()}/tmp_insert_{first_name}/"
    killing = "inject=rename,renameat,renameat2:signal=KILL"
    assert added(folder, 4, strace_or_skip(), "-f", "-o", os.devnull, "-P", second, "-e", killing) == ["0"]
    assert added(folder, 4) == ["0", "1", "2", "3"]
    found = read(folder)
    assert found["invocations"] == [0, 1, 2, 3]
    assert found["exported"] == [[number, version] for number in range(4) for version in ("1.0", "1.1")]
    assert found["medians"] == 8
