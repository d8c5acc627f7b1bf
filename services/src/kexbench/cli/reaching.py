"""The API that a command asks: that of the cluster that the environment names, or that of this machine. Every command
that can ask either asks here which one it is."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NoReturn

import typer

from kexbench.cli.console import err, say
from kexbench.client import ApiClient
from kexbench.domain.addresses import is_http_address
from kexbench.service import lasting_service, reach_service
from kexbench.settings import Settings
from kexbench.uplink import NoToken, Uplink
from kexbench.wiring import Installation

Api = Uplink | ApiClient
PATIENCE_S = 60.0
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
def reach_api(*, lasting: bool = False) -> Iterator[Api]:
    """The API that the environment names; where it names none, that of this machine: of a `kexbench serve` if it is to
    be a `lasting` one. Ends the command where there is none."""
    settings = Settings()
    url = cluster_url(settings)
    if url is not None:
        if settings.token_file is None:
            _end("KEXBENCH_API_URL names a cluster, but nothing says who asks: set KEXBENCH_TOKEN_FILE", _WHO_ASKS)
        try:
            with closing(Uplink(url, settings.token_file, say, patience_s=PATIENCE_S)) as api:
                yield api
        except NoToken as error:
            _end(str(error), _WHO_ASKS)
        return
    if lasting and lasting_service(settings) is None:
        err.print("nothing would measure it: no kexbench serve runs here")
        err.print("  remedy: start kexbench serve, or measure at once with kexbench run SPEC;", markup=False)
        err.print("  for a cluster set KEXBENCH_API_URL and KEXBENCH_TOKEN_FILE", markup=False)
        raise typer.Exit(1)
    with reach_service(Installation(settings)) as address, closing(ApiClient(address)) as here:
        yield here


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
