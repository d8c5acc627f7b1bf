"""Upgrades between two builds of one source, through a service that measures, judges and confirms as any does."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from bench.lab import BenchError
from bench.planted import fetch_sources, plant_twins
from bench.scorecard.figures import name, share
from kexbench.api.calling import API_PREFIX
from kexbench.domain.judgements import JudgedUpgrade, Judgement
from kexbench.domain.scorecard import ScorecardRow, ScorecardTable
from kexbench.service import lasting_service
from kexbench.settings import Settings

CONFIRMED = 30
POLL_S = 1.0
START_S, RUN_S, END_S = 120, 7200, 300
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: twins-{number}, description: Two builds of one source. }}
subjects: [{{ openssl: tracked }}]
matrix: {{ protocol: [TLSv1.2, TLSv1.3], keyExchange: [ECDHE-ECDSA, ECDHE-RSA], rsaBits: [2048], curve: [P-256], \
group: [X25519, P-256] }}
measure: {{ invocations: 10, batches: 20, sentinel: false }}
alerts: {{ confirmInvocations: {confirmed} }}
"""
CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries: {{ openssl: [{{ source: "git:{repository}#{first}" }}, {{ source: "git:{repository}#{second}" }}] }}
"""
"""What is in a git repository is run when it is built, so that a spec can name only those of the catalogue."""


@dataclass(frozen=True)
class Lived:
    """What became of one upgrade, and how long that took, builds and confirmation included."""

    upgrade: JudgedUpgrade
    minutes: float


def measure(count: int, say: Callable[[str], None]) -> Iterator[Lived]:
    """Raises BenchError, and StepFailed where there are no sources."""
    folder = Settings().cache / "planted" / "twins"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as scratch:
        sources = fetch_sources(Path(scratch), say)
        first, second = plant_twins(shutil.copytree(sources, folder))
        catalogue = Path(scratch) / "libraries.yaml"
        catalogue.write_text(CATALOGUE.format(repository=folder, first=first, second=second))
        with _serving(Path(scratch) / "home", catalogue) as (environment, http):
            for number in range(1, count + 1):
                spec = Path(scratch) / f"twins-{number}.yaml"
                spec.write_text(SPEC.format(number=number, confirmed=CONFIRMED))
                yield _lived(spec, environment, http, say)


@contextmanager
def _serving(home: Path, catalogue: Path) -> Iterator[tuple[Mapping[str, str], httpx.Client]]:
    """A service with a store of its own. Raises BenchError where it does not start."""
    environment = {**os.environ, "KEXBENCH_HOME": str(home), "KEXBENCH_CATALOGUE": str(catalogue)}
    command = [sys.executable, "-m", "kexbench.cli", "serve", "--port", "0"]
    home.mkdir()
    with (home / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        address = _patiently(lambda: lasting_service(Settings(home=home)), START_S, process, home / "serve.log")
        with httpx.Client(base_url=f"{address.url}{API_PREFIX}", timeout=60) as http:
            yield environment, http
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _patiently(found: Callable[[], Any], seconds: float, process: "subprocess.Popen[bytes]", log: Path) -> Any:
    """What is found at last. Raises BenchError."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if (what := found()) is not None:
            return what
        time.sleep(POLL_S)
    raise BenchError(f"kexbench serve was not there within {seconds} s: {log.read_text(errors='replace')[-500:]}")


def _lived(spec: Path, environment: Mapping[str, str], http: httpx.Client, say: Callable[[str], None]) -> Lived:
    say(f"live: {spec.stem} is built and measured")
    began = time.monotonic()
    command = [sys.executable, "-m", "kexbench.cli", "submit", str(spec), "--key", spec.stem, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{spec.stem} was not queued: {done.stderr[-500:]}")
    run_id = json.loads(done.stdout)["run_id"]
    upgrade = settled(lambda: http.get(f"/runs/{run_id}/judgement"), RUN_S, time.sleep)
    minutes = (time.monotonic() - began) / 60
    say(f"live: {spec.stem} is {upgrade.outcome}, {upgrade.more} of {upgrade.compared} cells suspected")
    return Lived(upgrade, minutes)


def settled(ask: Callable[[], httpx.Response], seconds: float, wait: Callable[[float], object]) -> JudgedUpgrade:
    """The one upgrade of a run, once nothing of it is waited for. A machine that measures may be late to answer. Raises
    BenchError where it takes too long, and where nothing was compared."""
    for _ in range(int(seconds / POLL_S)):
        try:
            answer = ask()
        except httpx.TransportError:
            wait(POLL_S)
            continue
        if answer.status_code == httpx.codes.OK:
            (upgrade,) = _upgrades(answer)
            if upgrade.outcome == "cannot confirm":
                raise BenchError(f"a suspicion could not be confirmed: {upgrade.detail}")
            if not upgrade.waits:
                return upgrade
        elif answer.status_code != httpx.codes.NOT_FOUND:
            raise BenchError(f"{answer.url}: {answer.text}")
        wait(POLL_S)
    raise BenchError(f"no judgement within {seconds} s")


def _upgrades(answer: httpx.Response) -> tuple[JudgedUpgrade, ...]:
    judgement = Judgement.model_validate_json(answer.content)
    if len(judgement.upgrades) != 1 or not judgement.upgrades[0].compared:
        raise BenchError(f"run {judgement.run_id} compared nothing: {judgement.upgrades}")
    return judgement.upgrades


def table(found: Sequence[Lived]) -> ScorecardTable:
    rows = (
        ("with a suspicion after screening", [one for one in found if one.upgrade.more]),
        ("with an alert after confirmation", [one for one in found if one.upgrade.outcome == "confirmed"]),
    )
    return ScorecardTable(
        title="Two builds of one source",
        columns=("upgrades", "how many, with Wilson's interval"),
        rows=tuple(ScorecardRow(ours=True, cells=(name(text), share(len(some), len(found)))) for text, some in rows),
    )


def sentence(found: Sequence[Lived]) -> str:
    confirmed = sum(one.upgrade.outcome == "confirmed" for one in found)
    cells = sum(one.upgrade.compared for one in found)
    minutes = ", ".join(f"{one.minutes:.0f}" for one in found)
    return (
        f"Of {len(found)} upgrades between builds of one source, {cells} cells in all, {confirmed} alerted; they took "
        f"{minutes} minutes, builds and confirmations included."
    )
