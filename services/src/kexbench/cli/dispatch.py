"""`kexbench dispatch`: submits queued runs to a cluster until a signal ends it."""

import logging
import signal
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from kexbench.cli.console import WithoutOrders, err
from kexbench.client import ApiClient, token_in
from kexbench.logs import are_json, log_text
from kexbench.settings import Settings
from kexbench.wiring import Installation

if TYPE_CHECKING:
    from kexbench.dispatcher.health import Health

_PATIENCE_S = 20.0
_log = logging.getLogger(__name__)


def dispatch(
    once: Annotated[bool, typer.Option("--once", help="Process every open run once, then exit.")] = False,
) -> None:
    """Submit queued runs to a cluster and report their progress to the API.

    Also queues the specs of new commits and sends notifications. Of several dispatchers one is active. Required:
    KEXBENCH_API_URL, KEXBENCH_TOKEN_FILE, KEXBENCH_POOLS, KEXBENCH_RUNNER_IMAGE, KEXBENCH_BUILDER_IMAGE. Optional:
    KEXBENCH_REPOSITORIES (what to watch), KEXBENCH_CHANNELS (where to notify). Cluster: its pod's or KUBECONFIG.

    Examples:

        kexbench dispatch
        kexbench dispatch --once
    """
    # Imported here: the clients of Kubernetes, Argo and git take a second, and other commands do not need them.
    from kexbench import notifier  # noqa: PLC0415
    from kexbench.dispatcher.wiring import dispatcher_of  # noqa: PLC0415
    from kexbench.watch.wiring import announcer_of, watcher_of, watching  # noqa: PLC0415

    if not are_json():  # otherwise `main` did it
        log_text(WithoutOrders("%(asctime)s %(levelname)s %(message)s"))
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
    installation = Installation(settings)
    with (
        closing(ApiClient(settings.api_url, token_in(settings.token_file), patience_s=_PATIENCE_S)) as api,
        dispatcher_of(settings, api, settings.replica_name, lambda: datetime.now(UTC)) as (dispatcher, health),
    ):
        if once:
            with watcher_of(installation, api, _log.info) as watcher:
                announcer = announcer_of(installation, api, _log.info)
                sender = notifier.sender_of(installation, api, _log.info)
                succeeded = [dispatcher.once(), watcher.once(), announcer.once(), sender is None or sender.once()]
            raise typer.Exit(0 if all(succeeded) else 1)
        ending = Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: ending.set())
        with (
            _served(health, settings.dispatcher_port),
            watching(installation, api, _log.info, health.troubles, health.acts),
            notifier.notifying(installation, api, _log.info, health.troubles, health.acts),
        ):
            dispatcher.run(ending)


def _served(health: "Health", port: int | None) -> AbstractContextManager[object]:
    return nullcontext() if port is None else health.served(port)
