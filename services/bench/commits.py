"""The delay from a push to the run of its commit: git, a watcher at its default interval, the service and its store."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import numpy as np

from bench.machine import BenchError
from kexbench.api.calling import API_PREFIX
from kexbench.client import ApiClient
from kexbench.service import own_store
from kexbench.service.serving import Service
from kexbench.settings import Settings
from kexbench.watch.wiring import watching
from kexbench.wiring import Installation

_REPOSITORIES = """\
apiVersion: kexbench.dev/v1
kind: Repositories
repositories: [{{ name: pushed, url: {url} }}]
"""
_SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: pushed-{number} }}
subjects: [{{ openssl: system }}]
matrix: {{ protocol: [TLSv1.3], keyExchange: [ECDHE-RSA] }}
"""
_PATIENCE_S = 120.0
_POLL_S = 0.05


@dataclass(frozen=True)
class Delays:
    """Seconds from the end of each `git push` until the API lists the run. `interval_s` is the polling interval."""

    seconds: tuple[float, ...]
    interval_s: float


def measure_commits(pushes: int) -> Delays:
    """Push at random times within the polling interval. Raises BenchError."""
    with TemporaryDirectory() as folder, _watched(Path(folder)) as (http, clone, interval_s):
        random = np.random.default_rng(0)
        delays_s = []
        for number in range(pushes):
            time.sleep(random.uniform(0, interval_s))
            path = clone / "bench-specs" / f"{number}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(_SPEC.format(number=number))
            commit = _pushed(clone)
            began = time.monotonic()
            _wait(partial(_has_run, http, commit))
            delays_s.append(time.monotonic() - began)
        return Delays(tuple(delays_s), interval_s)


@contextmanager
def _watched(folder: Path) -> Iterator[tuple[httpx2.Client, Path, float]]:
    """A service with a new store, a clone of the watched repository, and the polling interval in seconds."""
    bare, clone = folder / "pushed.git", folder / "clone"
    _git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    _git(folder, "clone", "--quiet", str(bare), str(clone))
    settings = Settings(home=folder / "home")
    settings.home.mkdir()
    (settings.home / "repositories.yaml").write_text(_REPOSITORIES.format(url=bare))
    installation = Installation(settings)
    logged: list[str] = []
    with ExitStack() as stack:
        service = Service(installation, own_store(settings), "127.0.0.1", 0)
        address = stack.enter_context(service.background())
        api = stack.enter_context(closing(ApiClient.here(address, "dispatcher")))
        stack.enter_context(watching(installation, api, logged.append))
        _wait(lambda: any(line.startswith("watching branch main") for line in logged))
        http = stack.enter_context(httpx2.Client(base_url=address.url + API_PREFIX, trust_env=False))
        yield http, clone, settings.watch_interval_s


def _has_run(http: httpx2.Client, commit: str) -> bool:
    """Whether a run is for the commit."""
    return any(run["commit"] and run["commit"]["commit"] == commit for run in http.get("/runs").json()["runs"])


def _pushed(clone: Path) -> str:
    _git(clone, "add", "--all")
    _git(
        clone, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "--quiet", "--message=one more"
    )
    _git(clone, "push", "--quiet", "origin", "HEAD:main")
    return _git(clone, "rev-parse", "HEAD")


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise BenchError(f"a push had no effect within {_PATIENCE_S:.0f} s")
        time.sleep(_POLL_S)
