"""`kexbench serve`: the dashboard and the API, until a signal ends it."""

import os
from collections.abc import Collection
from contextlib import closing
from typing import Annotated

import typer

from kexbench.cli.console import err, say
from kexbench.client import ApiClient
from kexbench.measurer import Measurer
from kexbench.pipeline import deliver_leftovers
from kexbench.runner.cpus import claim_cpus
from kexbench.service import own_store
from kexbench.service.serving import Service
from kexbench.settings import Settings
from kexbench.wiring import Installation


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; the default is loopback only.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes any.", min=0, max=65535)] = None,
) -> None:
    """Serve the dashboard and the API from this machine's store, and measure what is queued there.

    New commits of the repositories that are watched queue their specs, and people are told of alerts at the channels
    that are named. Ctrl-C ends it after the invocation under way;
    the run goes on with the next `kexbench serve`.

    Examples:

        kexbench serve
        kexbench serve --port 9000
    """
    installation = Installation(Settings())
    settings = installation.settings
    cpus = os.sched_getaffinity(0)
    if settings.access == "local":
        claim_cpus()  # before there is a thread: all that are made later keep off the measuring core as well
    faults: list[str] = []
    for run in deliver_leftovers(installation, faults.append):
        err.print(f"stored what run {run.run_id} had left on disk", markup=False)
    lock = own_store(settings)
    service = Service(installation, lock, host or settings.host, settings.port if port is None else port)
    for fault in faults:
        err.print(fault, markup=False)
        service.troubles.add("results", " ".join(fault.split()))
    if not (settings.pages / "index.html").is_file():
        err.print(f"no pages in {settings.pages}: serving the API alone (npm run build makes them)", markup=False)
    err.print(f"serving [bold]{service.address.url}[/bold] (Ctrl-C ends it)")
    with service:
        if settings.access == "cluster":
            service.run()
        else:
            _run_here(installation, service, cpus)


def _run_here(installation: Installation, service: Service, cpus: Collection[int]) -> None:
    """With what measures, watches and notifies, which ends before the store is closed."""
    # Here, since git takes a moment to import and other commands never need it.
    from kexbench import notifier  # noqa: PLC0415
    from kexbench.watch.wiring import watching  # noqa: PLC0415

    troubles = service.troubles
    with (
        closing(ApiClient.here(service.address, "dispatcher")) as api,
        watching(installation, api, say, troubles),
        notifier.notifying(installation, api, say, troubles),
    ):
        measurer = Measurer(installation, service.store, say, troubles=troubles, cpus=cpus, reading=service.reading)
        service.run(measurer)
