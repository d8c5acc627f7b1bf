"""The API that a command uses: that of the cluster that the environment names, or that of this machine. Every command
that works with both chooses it here."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

import typer
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from kexbench.api.models import Health
from kexbench.cli.console import err, say
from kexbench.client import ApiClient, NoToken, Unreachable, token_in
from kexbench.domain.addresses import is_http_address
from kexbench.queue.troubles import ROOM
from kexbench.runner.cpus import claim_cpus
from kexbench.service import lasting_service, own_store, reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.api.rights import Role
    from kexbench.executor import Executor

Asked = TypeVar("Asked")
Followed = TypeVar("Followed")
PATIENCE_S = 60.0
_POLL_S, _POLL_HERE_S = 5.0, 0.5
WRONG_USAGE = 2
_WHO_ASKS = "set KEXBENCH_TOKEN_FILE to a file with a token, such as one from kubectl create token"
_HERE_REMEDY = "or unset KEXBENCH_API_URL to use this machine"


def cluster_url(settings: Settings) -> str | None:
    """The URL of the cluster's API, None if none is set. Ends the command if KEXBENCH_API_URL is not a URL."""
    url = settings.api_url
    if url is None:
        return None
    if not is_http_address(url) or "?" in url:
        _end(
            f"KEXBENCH_API_URL is {url!r}, which is not the URL of an API",
            "set it to a URL such as https://kexbench.example.com, or unset it to use this machine",
        )
    return url


@contextmanager
def reach_api(*, lasting: bool = False, role: "Role" = "admin") -> Iterator[ApiClient]:
    """The API that the environment names, otherwise that of this machine, in a role there. `lasting`: only that of a
    `kexbench serve`. Ends the command if there is none."""
    settings = Settings()
    url = cluster_url(settings)
    if url is not None:
        if settings.token_file is None:
            _end("KEXBENCH_API_URL names a cluster, but KEXBENCH_TOKEN_FILE is not set", _WHO_ASKS)
        try:
            with closing(ApiClient(url, token_in(settings.token_file), say, patience_s=PATIENCE_S)) as api:
                yield api
        except NoToken as error:
            _end(str(error), _WHO_ASKS)
        return
    if lasting and lasting_service(settings) is None:
        err.print("nothing would measure the run: no kexbench serve runs here")
        err.print("  remedy: start kexbench serve, or measure now with kexbench run SPEC;", markup=False)
        err.print("  for a cluster set KEXBENCH_API_URL and KEXBENCH_TOKEN_FILE", markup=False)
        raise typer.Exit(1)
    installation = Installation(settings)
    if lasting_service(settings) is None:
        _tell_of_leftovers(installation)
    with reach_service(installation) as address, closing(ApiClient.here(address, role)) as here:
        yield here


def _tell_of_leftovers(installation: Installation) -> None:
    """Prints which runs have results that no process stores. Who reads the store would take them for not measured."""
    for folder in installation.run_folders():
        if not folder.is_delivered() and not folder.is_held():
            run_id = folder.path.name
            err.print(f"run {run_id} ended before all its results were stored", style="yellow", markup=False)
            err.print(f"  remedy: kexbench run --resume {run_id} continues it;", markup=False)
            err.print("  the next kexbench run or serve stores what it has, or says why not", markup=False)


def ask_api(ask: Callable[[ApiClient], Asked]) -> Asked:
    """What the API answers, as in `reach_api`. It may be asked again: another command may serve the store while it
    prints its own results, and end before it answers."""
    for attempt in Retrying(retry=retry_if_exception_type(Unreachable), stop=stop_after_attempt(3), reraise=True):
        with attempt, reach_api() as api:
            return ask(api)
    raise AssertionError("the last attempt raises")


def warn_of_room(api: ApiClient) -> None:
    """Prints why nothing can be stored, if the disk of the store is full."""
    for trouble in api.get(Health, "/health").troubles:
        if trouble.part == ROOM:
            err.print(trouble.reason, style="yellow", markup=False)


@dataclass(frozen=True)
class Queue:
    """Where runs and bisections are queued. `here`: only this process measures them."""

    api: ApiClient
    _executor_of: "Callable[[str], Executor] | None" = None

    @property
    def here(self) -> bool:
        return self._executor_of is not None

    @contextmanager
    def seen_to(self, only: str) -> Iterator[None]:
        """Measures a run or a bisection while the context lasts, unless a service does. Ctrl-C ends the measuring after
        the current invocation, a second Ctrl-C at once."""
        if self._executor_of is None:
            yield
            return
        executor = self._executor_of(only)
        thread = threading.Thread(target=executor.work, name="executor")
        thread.start()
        try:
            yield
        except KeyboardInterrupt:
            say("stopping after the current invocation; the same command continues from there")
            raise
        finally:
            executor.end()
            try:
                thread.join()
            except KeyboardInterrupt:
                executor.end()
                thread.join()


def follow(
    api: ApiClient,
    ask: Callable[[], Followed],
    lines: Callable[[Followed], list[str]],
    ended: Callable[[Followed], bool],
) -> Followed:
    """Poll until something has ended, and print new lines."""
    printed: list[str] = []
    while True:
        asked_s = time.monotonic()
        state = ask()
        answered_s = time.monotonic()
        for line in lines(state):
            if line not in printed:
                say(line)
        printed = lines(state)
        if ended(state):
            return state
        time.sleep(_POLL_S if api.page else pause_here_s(answered_s - asked_s))


def pause_here_s(answering_s: float) -> float:
    """The pause between two answers of this process, which measures meanwhile: answers should take little of the CPU
    time. A slow one, or one that was tried again, delays the next no longer than elsewhere."""
    return min(max(_POLL_HERE_S, 20 * answering_s), _POLL_S)


@contextmanager
def reach_queue(*, lasting: bool = False) -> Iterator[Queue]:
    """The queue of the cluster that the environment names, or of this machine's `kexbench serve`, or of this process.
    `lasting` excludes the last."""
    settings = Settings()
    if lasting or cluster_url(settings) is not None or lasting_service(settings) is not None:
        with reach_api(lasting=True) as api:
            yield Queue(api)
        return
    # Imported here: a client of a service does not need them.
    from kexbench.executor import Executor  # noqa: PLC0415
    from kexbench.service.serving import Service  # noqa: PLC0415

    installation, cpus = Installation(settings), os.sched_getaffinity(0)
    claim_cpus()  # before any thread starts: later threads also stay off the measuring core
    service = Service(installation, own_store(settings), settings.host, 0, lasting=False)

    def executor_of(only: str) -> Executor:
        return Executor(
            installation,
            service.store,
            say,
            troubles=service.troubles,
            cpus=cpus,
            reading=service.reading,
            only=only,
        )

    with service.background() as address, closing(ApiClient.here(address)) as api:
        yield Queue(api, executor_of)


def on_this_machine(what: str, instead: str) -> Settings:
    """For commands that only work on this machine. Ends the command if the environment names a cluster; `instead` is
    the equivalent there."""
    settings = Settings()
    if cluster_url(settings) is not None:
        _end(f"{what}, but KEXBENCH_API_URL names a cluster", f"{instead}, {_HERE_REMEDY}")
    return settings


def _end(wrong: str, remedy: str) -> NoReturn:
    err.print(wrong, markup=False)
    err.print(f"  remedy: {remedy}", markup=False)
    raise typer.Exit(WRONG_USAGE)
