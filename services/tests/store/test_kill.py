"""kill -9 of a process that is storing: what it was told is stored is there, whole; the rest can be repeated."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import SERVICES
from tests.store.writer import COUNT
from tests.tracing import strace_or_skip

pytestmark = pytest.mark.xdist_group("store")
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


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one invocation."""
    folder = tmp_path_factory.mktemp("killed") / "store"
    subprocess.run([*writer(folder, "add"), "1"], cwd=SERVICES, check=True, stdout=subprocess.PIPE, timeout=TIMEOUT_S)
    return folder


@pytest.mark.parametrize("number", [4, *(pytest.param(number, marks=pytest.mark.thorough) for number in (1, 2, 3, 5))])
def test_what_was_being_inserted_at_a_kill_is_whole_when_it_is_inserted_again(
    made_once: Path, tmp_path: Path, number: int
) -> None:
    """The engine names the files of an insert last, and may remember the insert before. Each thread of it counts its own
    calls."""
    many = 20  # so that some thread comes to its fifth call
    folder = tmp_path / "store"
    shutil.copytree(made_once, folder, symlinks=True)
    calls = "rename,renameat,renameat2"
    killed = [strace_or_skip(), "-f", "-o", os.devnull, "-e", f"trace={calls}"]
    killed += ["-e", f"inject={calls}:signal=KILL:when={number}"]
    tried = subprocess.run(
        [*killed, *writer(folder, "add"), str(many)],
        cwd=SERVICES,
        check=False,
        stdout=subprocess.PIPE,
        timeout=TIMEOUT_S,
    )
    assert tried.returncode != 0
    again = [*writer(folder, "add"), str(many)]
    subprocess.run(again, cwd=SERVICES, check=True, stdout=subprocess.PIPE, timeout=TIMEOUT_S)
    found = read(folder)
    assert found["invocations"] == list(range(many))
    assert found["exported"] == [[number, version] for number in range(many) for version in ("1.0", "1.1")]
    assert found["medians"] == 2 * many
