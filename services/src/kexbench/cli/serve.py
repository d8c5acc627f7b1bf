"""`kexbench serve`: serves the dashboard and the API until a signal ends it."""

import os
from collections.abc import Collection
from contextlib import closing
from typing import Annotated

import typer

from kexbench.cli.console import err, say
from kexbench.client import ApiClient
from kexbench.executor import Executor
from kexbench.pipeline import deliver_leftovers
from kexbench.runner.cpus import claim_cpus
from kexbench.service import own_store
from kexbench.service.serving import Service
from kexbench.settings import Settings
from kexbench.wiring import Installation


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: loopback only.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 selects a free one.", min=0, max=65535)] = None,
) -> None:
    """Serve the dashboard and the API of this machine, and measure queued runs.

    Also queues the specs of new commits in watched repositories and sends alerts to the configured channels. Ctrl-C
    ends it after the current invocation; the next `kexbench serve` continues the run.

    Examples:

        kexbench serve
        kexbench serve --port 9000
    """
    installation = Installation(Settings())
    settings = installation.settings
    cpus = os.sched_getaffinity(0)
    if settings.access == "local":
        claim_cpus()  # before any thread starts: later threads also stay off the measuring core
    faults: list[str] = []
    for run in deliver_leftovers(installation, faults.append, queued=True):
        err.print(f"stored the results that run {run.run_id} had left on disk", markup=False)
    lock = own_store(settings)
    service = Service(installation, lock, host or settings.host, settings.port if port is None else port)
    installation = service.installation
    for fault in faults:
        err.print(fault, markup=False)
        service.troubles.add("results", " ".join(fault.split()))
    if not (settings.pages / "index.html").is_file():
        err.print(
            f"no pages in {settings.pages}: serving only the API (in a checkout, make frontend makes them)",
            markup=False,
        )
    err.print(f"serving [bold]{service.address.url}[/bold] (Ctrl-C ends it)")
    with service:
        if settings.access == "cluster":
            service.run()
        else:
            _run_here(installation, service, cpus)


def _run_here(installation: Installation, service: Service, cpus: Collection[int]) -> None:
    """Runs the executor, the watcher and the notifier. They end before the store is closed."""
    # Imported here: git takes a moment to import, and other commands do not need it.
    from kexbench import notifier  # noqa: PLC0415
    from kexbench.watch.wiring import watching  # noqa: PLC0415

    troubles = service.troubles
    with (
        closing(ApiClient.here(service.address, "dispatcher")) as api,
        watching(installation, api, say, troubles),
        notifier.notifying(installation, api, say, troubles),
    ):
        executor = Executor(installation, service.store, say, troubles=troubles, cpus=cpus, reading=service.reading)
        service.run(executor)
