"""A real service with a home of its own, in which faults happen, and what it acknowledged."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from kexbench.api.calling import sign_role_token
from kexbench.store.lock import StoreLock
from tests.cli.conftest import Cli
from tests.faults.drawing import ROLES, Fault, Kill

OLD, NEW = "1.0+noise=0", "1.1+noise=0+server_ns=315000"
ALERTING = 0.2
"""The share of runs with a rule. An alert has two further runs: one that confirms it, and one that counts."""
RULE = "alerts: { relevant: 1%, confirmInvocations: 10 }\n"
START_S, ROUND_S, END_S = 60.0, 12.0, 600.0
ENDED = frozenset({"finished", "failed", "cancelled"})


class NeverCame(Exception):
    """A condition did not come true in time."""


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise NeverCame(what)
        time.sleep(0.05)


@dataclass
class Service:
    """A running `kexbench serve`, perhaps beneath strace."""

    process: "subprocess.Popen[bytes]"
    http: httpx2.Client

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Raises httpx2.HTTPError if the service is gone or refuses."""
        return self.http.request(method, path, json=body).raise_for_status().json()

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def is_idle(self) -> bool:
        runs = self.ask("GET", "/runs")["runs"]
        return all(run["state"] in ENDED for run in runs)


@dataclass
class Scene:
    """`submitted` and `notes` are what the service said yes to: runs with their planned invocations, and remarks about
    alerts."""

    cli: Cli
    submitted: dict[str, int] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)
    failed_requests: int = 0
    damaged: bool = False
    """Whether a file was damaged: then a run may fail, if it says why."""

    @property
    def home(self) -> Path:
        return self.cli.folder / "home"

    @contextmanager
    def serving(self, fault: Fault | None) -> Iterator[Service | None]:
        """The service, or None if the fault ended it before it listened. All its processes are ended afterwards."""
        log = self.cli.folder / "service.log"
        start = log.stat().st_size if log.exists() else 0
        command = [*(fault.prefix if fault else ()), *self.cli.command("serve", "--port", "0")]
        with log.open("ab") as output:
            process = subprocess.Popen(
                command, env=self.cli.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            lock, url = StoreLock(self.home / "store.lock"), _address(process, log, start)
            with suppress(NeverCame):
                until(lambda: process.poll() is not None or lock.read() is not None, START_S, "the store's lock")
            holder = lock.read()
            if url is None or holder is None:
                yield None
                return
            token = sign_role_token("alice", "submitter", holder.secret, now=datetime.now(UTC))
            headers = {"Authorization": f"Bearer {token}"}
            with httpx2.Client(base_url=f"{url}/api/v1", headers=headers, timeout=30, trust_env=False) as http:
                yield Service(process, http)
        finally:
            self._end_all(process)

    def submit(self, service: Service, random: Random) -> None:
        name, invocations = f"spec-{len(self.submitted)}", random.randint(3, 12)
        spec = Path(self.cli.spec(name, OLD, NEW, invocations=invocations)).read_text()
        if random.random() < ALERTING:
            spec += RULE
        run_id = service.ask("POST", "/runs", {"spec_text": spec})["run_id"]
        self.submitted[run_id] = 2 * invocations  # of two cases

    def act(self, service: Service, random: Random) -> None:
        """Something that people do meanwhile."""
        choice = random.choice(("cancel", "note", "read", "nothing"))
        if choice == "cancel" and self.submitted:
            service.ask("POST", f"/runs/{random.choice(list(self.submitted))}/cancel")
        elif choice == "note" and (alerts := service.ask("GET", "/alerts")["alerts"]):
            alert_id, note = alerts[0]["alert_id"], f"remark {len(self.notes)}"
            last = service.ask("GET", f"/alerts/{alert_id}")["events"][-1]["number"]
            service.ask("POST", f"/alerts/{alert_id}/events", {"action": "noted", "note": note, "saw": last})
            self.notes.append((alert_id, note))
        elif choice == "read":
            for path in ("/filters", "/matrix", "/upgrades", "/runs"):
                service.ask("GET", path)

    def suffer(self, service: Service, kills: Sequence[Kill]) -> None:
        """Until the service has nothing to do, has died, or the time of a round is over."""
        for kill in kills:
            time.sleep(kill.after_s)
            for pid in self._processes(*ROLES[kill.role]):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.happened.append(str(kill))
        with suppress(NeverCame):
            until(lambda: not service.is_alive() or service.is_idle(), ROUND_S, "the end of a round")

    def finish(self, service: Service) -> None:
        """Until every run has ended; those that did not finish are resumed once."""
        until(service.is_idle, END_S, "the end of all runs")
        for run in service.ask("GET", "/runs")["runs"]:
            if run["state"] != "finished":
                with suppress(httpx2.HTTPStatusError):  # what is damaged cannot be resumed, and says so
                    service.ask("POST", f"/runs/{run['run_id']}/resume")
        until(service.is_idle, END_S, "the end of all resumed runs")

    def _end_all(self, process: "subprocess.Popen[bytes]") -> None:
        def left() -> list[int]:
            return [pid for pid in self._processes() if pid != os.getpid()]

        while pids := left():
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        process.kill()
        process.wait()

    def _processes(self, *words: str) -> list[int]:
        """Of this scene, whose home is in their environment, with these words in their command lines."""
        mark = f"KEXBENCH_HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            with suppress(OSError):
                environment = (folder / "environ").read_bytes().split(b"\0")
                command = (folder / "cmdline").read_bytes().decode(errors="replace")
                is_ours = mark in environment or str(self.home) in command
                if is_ours and not command.startswith("strace") and all(word in command for word in words):
                    found.append(int(folder.name))
        return found


def _address(process: "subprocess.Popen[bytes]", log: Path, start: int) -> str | None:
    """Where the service listens, or None if it has ended."""

    def line() -> str | None:
        text = log.read_bytes()[start:].decode(errors="replace")
        return next((each for each in text.splitlines() if "serving http" in each), None)

    with suppress(NeverCame):
        until(lambda: process.poll() is not None or line() is not None, START_S, "listening")
    listening = line()
    return next((word for word in listening.split() if word.startswith("http")), None) if listening else None
