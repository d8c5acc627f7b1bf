"""A machine's queue as a person uses it: a service that measures, and what is asked of it."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from typing import Any

import httpx2

from kexbench.api.calling import sign_role_token
from kexbench.store.lock import StoreLock
from tests.cli.conftest import TIMEOUT_S, Cli


@dataclass(frozen=True)
class Serving:
    """A running `kexbench serve`."""

    process: "subprocess.Popen[str]"
    http: httpx2.Client
    home: Path

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = self.http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def submit(self, spec: str) -> str:
        run_id: str = self.ask("POST", "/runs", {"spec_text": Path(spec).read_text()})["run_id"]
        return run_id

    def summary(self, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/runs/{run_id}")["summary"]
        return found

    def hears(self, *beginnings: str) -> list[str]:
        """The next lines that begin so, in this order; others between them are passed over. If one does not come, the
        service is ended and the test fails."""
        return [line for beginning in beginnings for line in self.hears_all(beginning)]

    def hears_all(self, *beginnings: str) -> list[str]:
        """The same in any order, for lines of several threads."""
        assert self.process.stderr is not None
        giving_up = Timer(TIMEOUT_S, self.process.kill)
        giving_up.start()
        came: dict[str, str] = {}
        try:
            while len(came) < len(beginnings) and (line := self.process.stderr.readline()):
                for beginning in beginnings:
                    if line.startswith(beginning):
                        came.setdefault(beginning, line.rstrip())
        finally:
            giving_up.cancel()
        assert len(came) == len(beginnings), f"of {beginnings} came {came}"
        return [came[beginning] for beginning in beginnings]

    def until_it_measures(self, run_id: str) -> None:
        """Until a run has its first results."""
        until(lambda: any((self.home / "runs" / run_id).glob("results/*.ndjson")))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "it never came to this"
        time.sleep(0.02)


@contextmanager
def serving(cli: Cli) -> Iterator[Serving]:
    with cli.serving() as (process, url):
        lock = StoreLock(cli.folder / "home" / "store.lock")
        until(lambda: lock.read() is not None)
        address = lock.read()
        assert address is not None
        token = sign_role_token("alice", "triager", address.secret, now=datetime.now(UTC))
        headers = {"Authorization": f"Bearer {token}"}
        with httpx2.Client(base_url=f"{url}/api/v1", headers=headers, timeout=60, trust_env=False) as http:
            yield Serving(process, http, cli.folder / "home")


def in_the_store(cli: Cli, script: str, *arguments: str) -> None:
    """Do something to the store while nobody serves it."""
    prepared = f"""
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from kexbench.queue.runs import queue_run
from kexbench.domain.runs import RunEvent, RunState, Trigger
from kexbench.domain.schedules import Schedule
from kexbench.settings import Settings
from kexbench.wiring import Installation

store = (installation := Installation(Settings())).open_store()
{script}
store.close()
"""
    subprocess.run([sys.executable, "-c", prepared, *arguments], env=cli.environment, timeout=TIMEOUT_S, check=True)
