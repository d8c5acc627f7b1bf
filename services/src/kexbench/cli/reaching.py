"""The API that a command asks: that of the cluster that the environment names, or that of this machine. Every command
that can ask either asks here which one it is."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

import typer

from kexbench.cli.console import err, say
from kexbench.client import ApiClient, NoToken, token_in
from kexbench.domain.addresses import is_http_address
from kexbench.runner.cpus import claim_cpus
from kexbench.service import lasting_service, own_store, reach_service
from kexbench.settings import Settings
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.measurer import Measurer

Followed = TypeVar("Followed")
PATIENCE_S = 60.0
_POLL_S, _POLL_HERE_S = 5.0, 0.5
WRONG_USAGE = 2
_WHO_ASKS = "let KEXBENCH_TOKEN_FILE name a file that holds a token, such as kubectl create token makes"
_HERE_REMEDY = "or unset KEXBENCH_API_URL to have it done on this machine"


def cluster_url(settings: Settings) -> str | None:
    """Where the cluster's API is; None where the environment names none, so that this machine's is meant. Ends the
    command where what is named is no address."""
    url = settings.api_url
    if url is None:
        return None
    if not is_http_address(url) or "?" in url:
        _end(
            f"KEXBENCH_API_URL is {url!r}, which is no address of an API",
            "set it to one such as https://kexbench.example.com, or unset it to ask this machine",
        )
    return url


@contextmanager
def reach_api(*, lasting: bool = False) -> Iterator[ApiClient]:
    """The API that the environment names; where it names none, that of this machine: of a `kexbench serve` if it is to
    be a `lasting` one. Ends the command where there is none."""
    settings = Settings()
    url = cluster_url(settings)
    if url is not None:
        if settings.token_file is None:
            _end("KEXBENCH_API_URL names a cluster, but nothing says who asks: set KEXBENCH_TOKEN_FILE", _WHO_ASKS)
        try:
            with closing(ApiClient(url, token_in(settings.token_file), say, patience_s=PATIENCE_S)) as api:
                yield api
        except NoToken as error:
            _end(str(error), _WHO_ASKS)
        return
    if lasting and lasting_service(settings) is None:
        err.print("nothing would measure it: no kexbench serve runs here")
        err.print("  remedy: start kexbench serve, or measure at once with kexbench run SPEC;", markup=False)
        err.print("  for a cluster set KEXBENCH_API_URL and KEXBENCH_TOKEN_FILE", markup=False)
        raise typer.Exit(1)
    with reach_service(Installation(settings)) as address, closing(ApiClient.here(address)) as here:
        yield here


@dataclass(frozen=True)
class Queue:
    """Where runs and bisections are queued. What is queued `here` is measured by this process, and by no other."""

    api: ApiClient
    _measurer_of: "Callable[[str], Measurer] | None" = None

    @property
    def here(self) -> bool:
        return self._measurer_of is not None

    @contextmanager
    def seen_to(self, wanted: str) -> Iterator[None]:
        """Measures a run or a bisection while the context lasts; does nothing where a service does. Ctrl-C ends the
        measuring after the invocation under way, a second one at once."""
        if self._measurer_of is None:
            yield
            return
        measurer = self._measurer_of(wanted)
        thread = threading.Thread(target=measurer.work, name="measurer")
        thread.start()
        try:
            yield
        except KeyboardInterrupt:
            say("it ends after the invocation under way; asked again it goes on from there")
            raise
        finally:
            measurer.end()
            try:
                thread.join()
            except KeyboardInterrupt:
                measurer.end()
                thread.join()


def follow(
    api: ApiClient,
    ask: Callable[[], Followed],
    lines: Callable[[Followed], list[str]],
    ended: Callable[[Followed], bool],
) -> Followed:
    """Ask until something has ended, and say each line that is new."""
    told: list[str] = []
    while True:
        found = ask()
        for line in lines(found):
            if line not in told:
                say(line)
        told = lines(found)
        if ended(found):
            return found
        time.sleep(_POLL_S if api.page else _POLL_HERE_S)


@contextmanager
def reach_queue(*, lasting: bool = False) -> Iterator[Queue]:
    """The queue of the cluster that the environment names, or of this machine's `kexbench serve`; where there is
    neither, that of this process, unless it is to be a `lasting` one."""
    settings = Settings()
    if lasting or cluster_url(settings) is not None or lasting_service(settings) is not None:
        with reach_api(lasting=True) as api:
            yield Queue(api)
        return
    # Here, since whoever asks a service needs none of it.
    from kexbench.measurer import Measurer  # noqa: PLC0415
    from kexbench.service.serving import Service  # noqa: PLC0415

    installation, cpus = Installation(settings), os.sched_getaffinity(0)
    claim_cpus()  # before there is a thread: all that are made later keep off the measuring core as well
    service = Service(installation, own_store(settings), settings.host, 0, lasting=False)

    def measurer_of(wanted: str) -> Measurer:
        return Measurer(
            installation,
            service.store,
            say,
            troubles=service.troubles,
            cpus=cpus,
            reading=service.reading,
            only=wanted,
        )

    with service.background() as address, closing(ApiClient.here(address)) as api:
        yield Queue(api, measurer_of)


def on_this_machine(what: str, instead: str) -> Settings:
    """For what only this machine can do; `instead` says what does the like on a cluster. Ends the command where the
    environment names one, since its user means the cluster."""
    settings = Settings()
    if cluster_url(settings) is not None:
        _end(f"{what}, but KEXBENCH_API_URL names a cluster", f"{instead}, {_HERE_REMEDY}")
    return settings


def _end(wrong: str, remedy: str) -> NoReturn:
    err.print(wrong, markup=False)
    err.print(f"  remedy: {remedy}", markup=False)
    raise typer.Exit(WRONG_USAGE)
