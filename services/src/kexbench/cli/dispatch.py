"""`kexbench dispatch`: on a cluster, turns queued runs into workflows until a signal ends it."""

import logging
import signal
import socket
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from kexbench.cli.console import WithoutOrders, err
from kexbench.client import ApiClient, token_in
from kexbench.settings import Settings
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.dispatcher.health import Health

_PATIENCE_S = 20.0
_log = logging.getLogger(__name__)


def dispatch(
    once: Annotated[bool, typer.Option("--once", help="Look at every open run once, act, and end.")] = False,
) -> None:
    """Submit the jobs of queued runs to a cluster and tell the API what becomes of them, have the specs of new
    commits measured, and tell people of alerts. Any number may run: one acts.

    What it needs to know, the environment says: KEXBENCH_API_URL, KEXBENCH_TOKEN_FILE, KEXBENCH_POOLS,
    KEXBENCH_RUNNER_IMAGE, KEXBENCH_BUILDER_IMAGE; KEXBENCH_REPOSITORIES where any are watched, KEXBENCH_CHANNELS
    where people are told of alerts. It finds the cluster as
    the pod it runs in, or as KUBECONFIG says.

    Examples:

        kexbench dispatch
        kexbench dispatch --once
    """
    # Here, since the clients of Kubernetes, Argo and git take a second to import and other commands never need them.
    from kexbench import notifier  # noqa: PLC0415
    from kexbench.dispatcher.wiring import dispatcher_of  # noqa: PLC0415
    from kexbench.watch.wiring import announcer_of, watcher_of, watching  # noqa: PLC0415

    handler = logging.StreamHandler()
    handler.setFormatter(WithoutOrders("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for client in ("httpx", "httpx2"):  # which tell every request, of which there are some every second
        logging.getLogger(client).setLevel(logging.WARNING)
    settings = Settings()
    missing = [
        f"KEXBENCH_{name.upper()}"
        for name in ("api_url", "token_file", "pools", "runner_image", "builder_image")
        if getattr(settings, name) is None
    ]
    if missing:
        err.print(f"not set: {', '.join(missing)}")
        raise typer.Exit(2)
    assert settings.api_url
    assert settings.token_file
    identity = f"{socket.gethostname()}-{uuid4()}"
    installation = Installation(settings)
    with (
        closing(ApiClient(settings.api_url, token_in(settings.token_file), patience_s=_PATIENCE_S)) as api,
        dispatcher_of(settings, api, identity, lambda: datetime.now(UTC)) as (dispatcher, health),
    ):
        if once:
            with watcher_of(installation, api, _log.info) as watcher:
                announcer = announcer_of(installation, api, _log.info)
                sender = notifier.sender_of(installation, api, _log.info)
                answered = [dispatcher.once(), watcher.once(), announcer.once(), sender is None or sender.once()]
            raise typer.Exit(0 if all(answered) else 1)
        ending = Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: ending.set())
        with (
            _served(health, settings.dispatcher_port),
            watching(installation, api, _log.info),
            notifier.notifying(installation, api, _log.info),
        ):
            dispatcher.run(ending)


def _served(health: "Health", port: int | None) -> AbstractContextManager[object]:
    return nullcontext() if port is None else health.served(port)
