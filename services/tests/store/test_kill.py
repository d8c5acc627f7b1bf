"""kill -9 of a process that is storing: what it was told is stored is there, whole; the rest can be repeated."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import SERVICES
from tests.store.writer import COUNT

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
