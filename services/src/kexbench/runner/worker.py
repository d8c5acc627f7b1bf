"""A live worker process. It answers each request with exactly one record, in bounded time."""

import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from kexbench.domain.kits import Launch
from kexbench.runner.load import LoadRequest
from kexbench.runner.records import Hello, Record, parse_record

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0
_WHOLE_PROCESS = 2
"""The kernel's code for the CPU clock of a whole process in a clock id, as clock_getcpuclockid makes it."""
_LONGEST_RECORD_BYTES = 4 * 1024 * 1024
"""Of 20,000 connections over a path, each with five times and two counts."""


class WorkerCrashed(Exception):
    """The process ended, or wrote something that is not a record. `signal`: the number of the signal that ended it."""

    def __init__(self, reason: str, signal: int | None = None) -> None:
        super().__init__(reason)
        self.signal = signal


class WorkerHung(Exception):
    """No answer in time."""


def process_cpu_ns(pid: int) -> int | None:
    """CPU time that a process has used, or None if it is gone or the kernel does not report it."""
    try:
        return time.clock_gettime_ns((~pid << 3) | _WHOLE_PROCESS)
    except OSError:
        return None


class Worker:
    """A worker process. A context manager that ends it on exit, whatever its state."""

    def __init__(self, launch: Launch, stderr: Path, sockets: tuple[int, ...] = ()) -> None:
        """Start the process, which inherits `sockets`, and read its hello. Raises WorkerCrashed or WorkerHung."""
        self._buffer = b""
        with stderr.open("ab") as log:
            try:
                # A separate process group: Ctrl-C reaches only the runner, which then ends its workers in order.
                self._process = subprocess.Popen(
                    launch.arguments,
                    cwd=launch.folder,
                    env=launch.environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    bufsize=0,
                    pass_fds=sockets,
                    process_group=0,
                )
            except OSError as error:
                raise WorkerCrashed(f"the worker does not start: {error}") from None
        try:
            hello = self.receive(START_TIMEOUT_S)
            if not isinstance(hello, Hello):
                raise WorkerCrashed(f"expected hello, got {hello.type}")
        except BaseException:
            self.close()
            raise
        self.hello = hello

    def ask(self, request: str, timeout_s: float) -> Record:
        """Send one request line and read its record. Raises WorkerCrashed or WorkerHung."""
        self.send(request)
        return self.receive(timeout_s)

    def load(self, case_id: str, request: LoadRequest) -> Record:
        """Have the client of the case that is set up connect to a server. Raises WorkerCrashed or WorkerHung."""
        return self.ask(request.line(case_id), request.longest_s)

    def send(self, request: str) -> None:
        """Raises WorkerCrashed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request.encode() + b"\n")
        except (BrokenPipeError, ValueError):
            raise self._ended() from None

    def receive(self, timeout_s: float) -> Record:
        """The next record. Raises WorkerCrashed or WorkerHung."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + timeout_s
        descriptor = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        while b"\n" not in self._buffer:
            remaining_ms = (deadline - time.monotonic()) * 1000
            if remaining_ms <= 0 or not poll.poll(remaining_ms):
                raise WorkerHung(f"no answer within {timeout_s:g} s")
            chunk = os.read(descriptor, 65536)
            if not chunk:
                raise self._ended()
            self._buffer += chunk
            if len(self._buffer) > _LONGEST_RECORD_BYTES:
                raise WorkerCrashed("the worker wrote a record that is too long")
        line, self._buffer = self._buffer.split(b"\n", 1)
        try:
            return parse_record(line)
        except ValueError as error:
            raise WorkerCrashed(str(error)) from None

    def cpu_ns(self) -> int | None:
        """CPU time that the process has used, or None if the kernel does not report it."""
        return process_cpu_ns(self._process.pid)

    def _ended(self) -> WorkerCrashed:
        try:
            status = self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return WorkerCrashed("the worker closed its output")
        if status < 0:
            return WorkerCrashed(f"the worker was ended by signal {-status}", signal=-status)
        return WorkerCrashed(f"the worker ended with status {status}")

    def finish(self, timeout_s: float) -> None:
        """Ask the process to end, and wait until it has, for files that it writes last. Raises WorkerCrashed or
        WorkerHung."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            status = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise WorkerHung(f"the worker did not end within {timeout_s:g} s") from None
        if status:
            raise self._ended()

    def close(self) -> None:
        """Close the worker's input, which asks it to end, and kill it if it does not."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(0.2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
