"""Processes of the cluster: each with a log of its own, watched, and a clear word about the one that ended."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devcluster.errors import DevclusterError

READY_TIMEOUT_S = 300
_POLL_S = 0.2


@dataclass
class Processes:
    """Started here and never stopped: the process namespace they are in ends with the cluster."""

    logs: Path
    _running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
        with (self.logs / f"{name}.log").open("wb") as log:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **(environment or {})},
            )

    def check(self) -> None:
        """Raises DevclusterError if one of them ended, which none does by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise DevclusterError(f"{name} ended with status {process.returncode}:\n{self.tail(name)}")

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
