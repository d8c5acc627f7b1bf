"""A service with a separate store, and the results of the runs that are submitted to it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from bench.machine import BenchError
from kexbench.alerts.reading import AlertPage, AlertSummary
from kexbench.api.calling import API_PREFIX
from kexbench.domain.screenings import ScreenedUpgrade, Screening
from kexbench.service import lasting_service
from kexbench.settings import Settings

POLL_S = 1.0
START_S, RUN_S, END_S = 120, 7200, 300


@dataclass(frozen=True)
class Serving:
    """The environment in which a command finds the service, and a client of its API."""

    environment: Mapping[str, str]
    http: httpx2.Client


@dataclass(frozen=True)
class Lived:
    """The result of one upgrade, and its duration with builds and confirmation run."""

    upgrade: ScreenedUpgrade
    minutes: float


@contextmanager
def serving(home: Path, catalogue: Path | None = None) -> Iterator[Serving]:
    """`kexbench serve`, with the built-in catalogue unless one is given. Raises BenchError if it does not start."""
    environment = {**os.environ, "KEXBENCH_HOME": str(home)}
    if catalogue:
        environment["KEXBENCH_CATALOGUE"] = str(catalogue)
    command = [sys.executable, "-m", "kexbench.cli", "serve", "--port", "0"]
    home.mkdir()
    with (home / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        address = _patiently(lambda: lasting_service(Settings(home=home)), START_S, process, home / "serve.log")
        with httpx2.Client(base_url=f"{address.url}{API_PREFIX}", timeout=60) as http:
            yield Serving(environment, http)
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _patiently(look: Callable[[], Any], seconds: float, process: "subprocess.Popen[bytes]", log: Path) -> Any:
    """The first result of `look` that is not None. Raises BenchError."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if (result := look()) is not None:
            return result
        time.sleep(POLL_S)
    raise BenchError(f"kexbench serve did not start within {seconds} s: {log.read_text(errors='replace')[-500:]}")


def lived(spec: Path, service: Serving, say: Callable[[str], None]) -> Lived:
    """Submit the spec and wait until its single upgrade is decided. Raises BenchError."""
    say(f"live: building and measuring {spec.stem}")
    began = time.monotonic()
    command = [sys.executable, "-m", "kexbench.cli", "submit", str(spec), "--key", spec.stem, "--json"]
    done = subprocess.run(command, env=service.environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{spec.stem} was not queued: {done.stderr[-500:]}")
    run_id = json.loads(done.stdout)["run_id"]
    upgrade = settled(lambda: service.http.get(f"/runs/{run_id}/screening"), RUN_S, time.sleep)
    minutes = (time.monotonic() - began) / 60
    say(f"live: {spec.stem} is {upgrade.outcome}, {upgrade.more} of {upgrade.compared} cells suspected")
    return Lived(upgrade, minutes)


def settled(ask: Callable[[], httpx2.Response], seconds: float, wait: Callable[[float], object]) -> ScreenedUpgrade:
    """The single upgrade of a run, once it is decided. A machine that measures may answer late. Raises BenchError if it
    takes too long, or if nothing was compared."""
    for _ in range(int(seconds / POLL_S)):
        try:
            answer = ask()
        except httpx2.TransportError:
            wait(POLL_S)
            continue
        if answer.status_code == httpx2.codes.OK:
            (upgrade,) = _upgrades(answer)
            if upgrade.outcome == "cannot confirm":
                raise BenchError(f"a suspicion could not be confirmed: {upgrade.detail}")
            if not upgrade.waits:
                return upgrade
        elif answer.status_code != httpx2.codes.NOT_FOUND:
            raise BenchError(f"{answer.url}: {answer.text}")
        wait(POLL_S)
    raise BenchError(f"no screening within {seconds} s")


def alerts_of(service: Serving) -> tuple[AlertSummary, ...]:
    """All alerts of the service."""
    answer = service.http.get("/alerts").raise_for_status()
    return tuple(AlertPage.model_validate_json(answer.content).alerts)


def _upgrades(answer: httpx2.Response) -> tuple[ScreenedUpgrade, ...]:
    screening = Screening.model_validate_json(answer.content)
    if len(screening.upgrades) != 1 or not screening.upgrades[0].compared:
        raise BenchError(f"run {screening.run_id} compared nothing: {screening.upgrades}")
    return screening.upgrades
