"""One measurement at a time: the lock of a home for measuring, and the process that measures a queued run."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kexbench.execution.folder import RunFolder
from kexbench.locks import locked
from kexbench.logs import VARIABLE

INTERRUPTED = 130
"""Exit status of a process that was asked to stop."""


@dataclass(frozen=True)
class MeasuringLock:
    """Held as long as any process has the descriptor open."""

    descriptor: int


@contextmanager
def measuring(home: Path, what: str, on_wait: Callable[[str], None]) -> Iterator[MeasuringLock]:
    """Holds `measuring.lock`; waits while another process holds it. `what` describes the measurement to others.
    `on_wait` gets a description of the current holder."""
    with locked(home / "measuring.lock", on_wait, does=f"measures {what}") as descriptor:
        yield MeasuringLock(descriptor)


class MeasuringProcess:
    """`kexbench run --queued RUN`, which ends after the current invocation once its standard input is closed."""

    def __init__(self, folder: RunFolder, on_end: Callable[[], None], cpus: Collection[int]) -> None:
        """Runs on these CPUs, whatever the affinity of this process. Raises OSError if no process can be started.
        `on_end` is called in a separate thread."""
        self.run_id = folder.path.name
        self.log = folder.measuring_log
        self.was_asked_to_end = False
        folder.path.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log, _thread_on(cpus):
            # A separate process group: Ctrl-C reaches only the service, which then ends this process in order.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kexbench.cli", "run", "--queued", self.run_id],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, VARIABLE: "text"},  # people read this log on the run's page
                process_group=0,
            )
        threading.Thread(target=self._watch, args=(on_end,), name=f"run {self.run_id}", daemon=True).start()

    @property
    def status(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def ask_to_end(self) -> None:
        self.was_asked_to_end = True
        assert self._process.stdin is not None
        self._process.stdin.close()

    def kill(self) -> None:
        """Also kills its runner, whose workers then end by themselves."""
        os.killpg(self._process.pid, signal.SIGKILL)

    def _watch(self, on_end: Callable[[], None]) -> None:
        self._process.wait()
        on_end()


@contextmanager
def _thread_on(cpus: Collection[int]) -> Iterator[None]:
    """Processes that this thread starts inside the context begin on these CPUs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Interrupts:
    """Whether Ctrl-C was pressed. It raises KeyboardInterrupt as usual, except between `hold` and `release`. Python
    ignores that exception where it frees an object, so whoever must not miss it asks here too."""

    def __init__(self) -> None:
        self.noted = False
        self._held = False

    def note(self, *_: object) -> None:
        """Handles the signal."""
        self.noted = True
        if not self._held:
            raise KeyboardInterrupt

    def hold(self) -> None:
        """While a process is started that could be lost otherwise."""
        self._held = True

    def release(self) -> None:
        """Raises KeyboardInterrupt, if one was held back."""
        self._held = False
        if self.noted:
            raise KeyboardInterrupt

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Inside, an error that a library raises in the place of KeyboardInterrupt, as pydantic does while it writes
        JSON, is that again."""
        try:
            yield
        except Exception:
            if self.noted:
                raise KeyboardInterrupt from None
            raise


@contextmanager
def noting_interrupts() -> Iterator[Interrupts]:
    """In other threads than the main one, nothing is noted."""
    interrupts = Interrupts()

    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_usual or threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end_with_standard_input() -> None:
    """In a measuring process: once the other end of standard input is closed, this process and its runner are
    interrupted as by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background service may ignore it
    if os.getpgrp() != os.getpid():
        return  # started by hand, in a group with other processes
    threading.Thread(target=_wait_for_the_end, name="standard input", daemon=True).start()


def _wait_for_the_end() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.killpg(os.getpgrp(), signal.SIGINT)
