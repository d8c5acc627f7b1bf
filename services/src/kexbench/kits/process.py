"""Runs the tools of a build: argument lists only, a scrubbed environment, a time limit, everything logged."""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from kexbench.kits.errors import Likely, ProgramFailed, Stage, StepFailed, likely_cause
from kexbench.kits.target import Target, target_for

Progress = Callable[[str], None]
"""Called with one short line for people at each step."""

_KEPT = (
    "PATH",
    "HOME",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)


def scrubbed_environment() -> dict[str, str]:
    """What a tool may see of our environment: where things are and how the network is reached.

    Left out on purpose: CFLAGS, CPATH, LIBRARY_PATH, MAKEFLAGS, LD_* and others that would change what is built.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {"PATH": os.defpath, **kept, "LANG": "C", "LC_ALL": "C"}


class Ended(Exception):
    """Somebody wants nothing made any more."""


class Children:
    """The tools that run for attempts side by side, so that all can be ended at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: set[int] = set()
        self.ended = False

    def started(self, group: int) -> None:
        with self._lock:
            self._running.add(group)
            if self.ended:
                _kill(group)

    def done(self, group: int) -> None:
        with self._lock:
            self._running.discard(group)

    def end(self) -> None:
        """Kill what runs, with its children; what is started afterwards ends at once."""
        with self._lock:
            self.ended = True
            for group in self._running:
                _kill(group)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@dataclass
class Attempt:
    """One attempt to make a kit: where its scratch files and its log are, who is told, and what the kit is for.

    `at_once` attempts are made side by side, which share the CPUs and whose tools are `children`.
    """

    scratch: Path
    log: Path
    progress: Progress
    target: Target = field(default_factory=target_for)
    children: Children = field(default_factory=Children)
    at_once: int = 1
    last_output: str = ""

    def share_of(self, jobs: int) -> int:
        """How many of the jobs that the machine can do at once are this attempt's."""
        return -(-jobs // self.at_once)

    def go_on(self) -> None:
        """Raises Ended when nothing is to be made any more."""
        if self.children.ended:
            raise Ended("cancelled")

    def note(self, text: str) -> None:
        """Tell the person and the log."""
        self.progress(text)
        self.write(f"# {text}\n")

    def write(self, text: str) -> None:
        with self.log.open("a", encoding="utf-8", errors="replace") as log:
            log.write(text)

    def run(
        self,
        arguments: Sequence[str],
        *,
        stage: Stage,
        timeout_s: float,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        stdin: str = "",
        exact_environment: bool = False,
        accept: Sequence[int] = (0,),
        secret: bool = False,
    ) -> str:
        """The tool's standard output. Raises StepFailed when it is absent, fails or takes too long, Ended when it was
        ended together with its siblings.

        `environment` is added to the scrubbed one, or replaces it with `exact_environment`.
        `accept` are the exit statuses that are no failure. The output of a `secret` tool is not logged.
        """
        self.go_on()
        base = {} if exact_environment else scrubbed_environment()
        self.write(f"\n$ {shlex.join(arguments)}\n")
        try:
            # A session of its own, so that a time limit ends the tool's children too.
            process = subprocess.Popen(
                list(arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**base, **(environment or {})},
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise StepFailed(
                stage, f"{arguments[0]} can't be started: {error.strerror}", f"install {Path(arguments[0]).name}"
            ) from error
        self.children.started(process.pid)
        try:
            output, errors = process.communicate(stdin, timeout=timeout_s)
        except BaseException as error:
            _kill(process.pid)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise StepFailed(
                    stage,
                    f"{arguments[0]} took longer than {timeout_s:g} s",
                    "try again when the machine or the network is less busy",
                ) from error
            raise
        finally:
            self.children.done(process.pid)
        self.go_on()
        self.last_output = output + errors
        self.write("# output not logged\n" if secret else self.last_output)
        if process.returncode not in accept:
            likely = likely_cause(self.last_output) or _ended(process.returncode, errors or output)
            self.write(f"# exit status {process.returncode}\n")
            raise ProgramFailed(stage, f"{Path(arguments[0]).name}: {likely.reason}", likely.remedy, lack=likely.lack)
        return output


def _ended(status: int, text: str) -> Likely:
    """Of a failure that isn't known."""
    if status == -signal.SIGKILL:
        remedy = "end other programs, or build where there is more memory"
        return Likely("was killed, most likely for want of memory", remedy, "memory")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return Likely(lines[-1] if lines else "failed without a word")
