"""One measurement at a time in a home, whoever ends how."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kexbench.execution.measuring import measuring

HOLD = """
import sys
from pathlib import Path
from kexbench.execution.measuring import measuring

with measuring(Path(sys.argv[1]), "handshakes", print) as lock:
    print("holding", lock.descriptor, flush=True)
    sys.stdin.read()
"""
LEAVE = """
import subprocess, sys
from pathlib import Path
from kexbench.execution.measuring import measuring

with measuring(Path(sys.argv[1]), "handshakes", print) as lock:
    runner = subprocess.Popen(["cat"], stdin=0, stdout=subprocess.DEVNULL, pass_fds=[lock.descriptor])
    print("holding", flush=True)
    runner.wait()
"""


@contextmanager
def held(script: str, home: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the lock until its standard input ends."""
    command = [sys.executable, "-c", script, str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("holding")
        yield process


def release(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.close()


def waited_for(process: "subprocess.Popen[str]", home: Path) -> list[str]:
    """What somebody hears who waits until the process, or what it left, has ended."""
    heard: list[str] = []

    def on_wait(words: str) -> None:
        heard.append(words)
        release(process)

    with measuring(home, "others", on_wait):
        process.wait()
    return heard


def test_the_second_one_waits_and_hears_for_whom(tmp_path: Path) -> None:
    with held(HOLD, tmp_path) as first:
        assert waited_for(first, tmp_path) == [f"waiting for process {first.pid}, which measures handshakes"]


def test_a_runner_that_outlives_its_process_keeps_others_waiting(tmp_path: Path) -> None:
    with held(LEAVE, tmp_path) as first:
        first.kill()
        first.wait()
        assert waited_for(first, tmp_path) == [f"waiting for process {first.pid}, which measures handshakes"]


def test_a_lock_that_was_given_back_names_nobody(tmp_path: Path) -> None:
    for _ in range(2):
        with measuring(tmp_path, "handshakes", lambda words: None):
            assert "handshakes" in (tmp_path / "measuring.lock").read_text()
        assert (tmp_path / "measuring.lock").read_text() == ""
