"""Runs build tools: argument lists only, a scrubbed environment, a time limit, and a log of everything."""

import errno
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

from kexbench.kits.errors import Likely, ProgramFailed, Stage, StepFailed, likely_cause
from kexbench.kits.target import Target, target_for

Progress = Callable[[str], None]
"""Called at each step with a short line for the user."""

COMMAND = "$ "
"""Begins the line of a log that has a command; its output follows."""
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
    """The variables of our environment that a tool may see: paths, certificates and proxies.

    CFLAGS, CPATH, LIBRARY_PATH, MAKEFLAGS, LD_* and others are excluded, since they would change the build.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {"PATH": os.defpath, **kept, "LANG": "C", "LC_ALL": "C"}


_once_written = Retrying(
    retry=retry_if_exception(lambda error: isinstance(error, OSError) and error.errno == errno.ETXTBSY),
    stop=stop_after_delay(10),
    wait=wait_exponential(multiplier=0.01, max=0.5),
    reraise=True,
)
"""Starts a program that was just written. Another thread that starts a program at that moment keeps the file open for
writing in its child, until that runs its own program (https://github.com/golang/go/issues/22315)."""


class Ended(Exception):
    """The attempts were cancelled."""


class Children:
    """The running tools of parallel attempts, so that all can be killed together."""

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
        """Kill all running tools with their children. Tools that start later are killed at once."""
        with self._lock:
            self.ended = True
            for group in self._running:
                _kill(group)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@dataclass
class Attempt:
    """One attempt to make a kit, with its scratch folder, its log, its progress callback and its target.

    `at_once` attempts run in parallel and share the CPUs. `children` are the tools of all of them.
    """

    scratch: Path
    log: Path
    progress: Progress
    target: Target = field(default_factory=target_for)
    children: Children = field(default_factory=Children)
    at_once: int = 1
    last_output: str = ""

    def share_of(self, jobs: int) -> int:
        """This attempt's share of the machine's parallel jobs."""
        return -(-jobs // self.at_once)

    def go_on(self) -> None:
        """Raises Ended if the attempts were cancelled."""
        if self.children.ended:
            raise Ended("cancelled")

    def note(self, text: str) -> None:
        """Report to the user and write to the log."""
        self.progress(text)
        self.write(f"# {text}\n")

    def write(self, text: str) -> None:
        with self.log.open("a", encoding="utf-8", errors="replace") as log:
            log.write(text)

    @contextmanager
    def or_older(self, older: str, *, serves: bool) -> Iterator[None]:
        """If a step that refreshes data fails and `serves` is set, reports that `older` data are used. Otherwise raises
        its StepFailed."""
        try:
            yield
        except StepFailed as error:
            if not serves:
                raise
            self.note(f"using {older}: {error.reason}")

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
        """The tool's standard output. Raises StepFailed if it is missing, fails or exceeds the time limit, and Ended if
        the attempts were cancelled.

        `environment` is added to the scrubbed one, or replaces it with `exact_environment`.
        `accept` lists the exit statuses of success. The output of a `secret` tool is not logged.
        """
        self.go_on()
        base = {} if exact_environment else scrubbed_environment()
        self.write(f"\n{COMMAND}{shlex.join(arguments)}\n")
        try:
            # A new session, so that the time limit ends the tool's children too.
            process = _once_written(
                subprocess.Popen,
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
                    "try again when the machine and the network are less busy",
                ) from error
            raise
        finally:
            self.children.done(process.pid)
        self.go_on()
        self.last_output = output + errors
        self.write("# output not logged\n" if secret else self.last_output)
        if process.returncode not in accept:
            likely = likely_cause(self.last_output) or _unrecognized(process.returncode, errors or output)
            self.write(f"# exit status {process.returncode}\n")
            raise ProgramFailed(stage, f"{Path(arguments[0]).name}: {likely.reason}", likely.remedy, lack=likely.lack)
        return output


def _unrecognized(status: int, text: str) -> Likely:
    """The cause of a failure that no pattern matches."""
    if status == -signal.SIGKILL:
        remedy = "close other programs, or build on a machine with more memory"
        return Likely("was killed, probably because memory ran out", remedy, "memory")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return Likely(lines[-1] if lines else "failed without output")
