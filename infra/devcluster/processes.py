"""Processes of the cluster: each with a log of its own, watched, and a clear word about the one that ended."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from devcluster.errors import DevclusterError

READY_TIMEOUT_S = 300
_POLL_S = 0.2


@dataclass(frozen=True)
class _Running:
    process: "subprocess.Popen[bytes]"
    restart: Callable[[], None] | None


@dataclass
class Processes:
    """Started here and never stopped: the process namespace they are in ends with the cluster."""

    logs: Path
    _running: dict[str, _Running] = field(default_factory=dict)

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        *,
        restarted: bool = False,
    ) -> None:
        """`restarted`: when it ends it is started again, as Kubernetes does with what runs in pods elsewhere."""
        with (self.logs / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **(environment or {})},
            )
        again = partial(self.start, name, command, environment, restarted=True) if restarted else None
        self._running[name] = _Running(process, again)

    def check(self) -> None:
        """Start again what is to be; raises DevclusterError if another one ended, which none does by itself."""
        for name, running in list(self._running.items()):
            if running.process.poll() is None:
                continue
            if running.restart is None:
                raise DevclusterError(f"{name} ended with status {running.process.returncode}:\n{self.tail(name)}")
            running.restart()

    def tail(self, name: str, lines: int = 12) -> str:
        return "\n".join((self.logs / f"{name}.log").read_text(errors="replace").splitlines()[-lines:])

    def wait_until(self, what: str, done: Callable[[], bool], blamed: str) -> None:
        """Until `done` says so; raises DevclusterError with the log of `blamed` if that takes too long."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not done():
            self.check()
            if time.monotonic() > deadline:
                raise DevclusterError(
                    f"{what}: not within {READY_TIMEOUT_S} s. The end of {blamed}'s log:\n{self.tail(blamed)}"
                )
            time.sleep(_POLL_S)
