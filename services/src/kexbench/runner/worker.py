"""One live worker process: requests go in, exactly one record a request comes out, in bounded time."""

import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from kexbench.domain.kits import Launch
from kexbench.runner.records import Hello, Record, parse_record

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0
_WHOLE_PROCESS = 2
"""The kernel's word in the number of another process's CPU clock, as clock_getcpuclockid makes it."""
_LONGEST_RECORD_BYTES = 64 * 1024


class WorkerCrashed(Exception):
    """The process ended, or said something that is not a record. `signal` is the number of the signal that ended it."""

    def __init__(self, reason: str, signal: int | None = None) -> None:
        super().__init__(reason)
        self.signal = signal


class WorkerHung(Exception):
    """No answer in time."""


class Worker:
    """A worker as a context manager: leaving ends the process, whatever state it is in."""

    def __init__(self, launch: Launch, stderr: Path, sockets: tuple[int, ...] = ()) -> None:
        """Start it, handing down `sockets`, and read its hello. Raises WorkerCrashed or WorkerHung."""
        self._buffer = b""
        with stderr.open("ab") as log:
            try:
                # A process group of its own: Ctrl-C reaches the runner alone, which then ends its workers in order.
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
            left_ms = (deadline - time.monotonic()) * 1000
            if left_ms <= 0 or not poll.poll(left_ms):
                raise WorkerHung(f"no answer within {timeout_s:g} s")
            chunk = os.read(descriptor, 65536)
            if not chunk:
                raise self._ended()
            self._buffer += chunk
            if len(self._buffer) > _LONGEST_RECORD_BYTES:
                raise WorkerCrashed("the worker's record is too long")
        line, self._buffer = self._buffer.split(b"\n", 1)
        try:
            return parse_record(line)
        except ValueError as error:
            raise WorkerCrashed(str(error)) from None

    def cpu_ns(self) -> int | None:
        """CPU time that the process has used, or None where the kernel doesn't tell."""
        clock = (~self._process.pid << 3) | _WHOLE_PROCESS
        try:
            return time.clock_gettime_ns(clock)
        except OSError:
            return None

    def _ended(self) -> WorkerCrashed:
        try:
            status = self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return WorkerCrashed("the worker closed its output")
        if status < 0:
            return WorkerCrashed(f"the worker was ended by signal {-status}", signal=-status)
        return WorkerCrashed(f"the worker ended with status {status}")

    def close(self) -> None:
        """Closing its input asks it to end; one that does not is killed."""
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
