"""Commands that begin at once: a process that has imported most of kexbench is forked for each of them.

What starts threads when it is imported, or looks at the environment, is left to each command: the engine, Typer and
kexbench.cli itself.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

SERVICES = Path(__file__).parents[2]
IMPORTED = ("kexbench.service.serving", "kexbench.store.clickhouse", "kexbench.execution.local", "rich.table")


def start_process() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=SERVICES,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )


class ReadyCommands:
    """One command at a time."""

    def __init__(self) -> None:
        self._process = start_process()
        atexit.register(self.close)

    def close(self) -> None:
        """The process ends with its input."""
        self._process.communicate()

    def run(self, command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> tuple[int, str, str]:
        """The exit status, and what was written to standard output and standard error. Raises TimeoutExpired."""
        if self._process.poll() is not None:
            self._process = start_process()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with TemporaryDirectory() as folder:
            streams = [Path(folder, name) for name in ("out", "err")]
            order = [list(command), dict(environment), str(Path.cwd()), *map(str, streams)]
            print(json.dumps(order), file=self._process.stdin, flush=True)
            answered = select.poll()  # `select.select` takes no descriptor above 1023, and stores open many files
            answered.register(self._process.stdout, select.POLLIN)
            if not answered.poll(1000 * timeout_s):
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.communicate()
                raise subprocess.TimeoutExpired(command, timeout_s, *(path.read_text() for path in streams))
            status = int(self._process.stdout.readline())
            return status, streams[0].read_text(), streams[1].read_text()


def main() -> None:
    for name in IMPORTED:
        import_module(name)
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            become(*json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def become(command: list[str], environment: dict[str, str], folder: str, out: str, err: str) -> None:
    for number, path in enumerate((os.devnull, out, err)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = sys.orig_argv = command
    from kexbench.cli.main import main as kexbench

    kexbench()


if __name__ == "__main__":
    main()
