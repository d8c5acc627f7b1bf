"""The process that holds the store and serves the API."""

import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from functools import partial
from types import FrameType
from typing import Protocol, Self

import httpx2
import uvicorn

from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, NO_CERTIFICATES
from kexbench.api.gate import Reading
from kexbench.execution.restoring import restore
from kexbench.garbage import collect_seldom
from kexbench.queue.streams import Streams
from kexbench.queue.supplies import Supplies
from kexbench.queue.troubles import Troubles
from kexbench.service.connections import config_of
from kexbench.service.pruning import Pruner
from kexbench.service.reach import LOCK, ServiceUnavailable, wait_until_healthy
from kexbench.service.replicas import Replica
from kexbench.store.lock import ServiceAddress, StoreLock
from kexbench.wiring import Installation

_log = logging.getLogger(__name__)
FIRST_PAGE = ("/overview", "/filters", "/matrix")
"""Routes whose answers the home page shows."""


class Beside(Protocol):
    """Background work, in a thread for as long as the service lasts."""

    def work(self) -> None: ...
    def end(self) -> None:
        """Called for each signal: the first asks to finish, further ones to end at once."""
        ...


class _Server(uvicorn.Server):
    """Keeps serving after a signal until the background work has ended, which still has results to deliver."""

    _beside: Beside | None = None
    _signal: int | None = None

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self._streams = streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.end()
        await super().shutdown(sockets)

    @contextmanager
    def working(self, beside: Beside | None) -> Iterator[None]:
        if beside is None:
            yield
            return
        self._beside = beside
        thread = threading.Thread(target=self._work, args=(beside,), name="beside the service")
        thread.start()
        try:
            yield
        finally:
            if thread.is_alive():
                beside.end()
            thread.join()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._beside is None:
            super().handle_exit(sig, frame)
            return
        self._signal = sig
        self._beside.end()

    def _work(self, beside: Beside) -> None:
        try:
            beside.work()
        finally:
            self._beside = None
            if self._signal is not None:
                super().handle_exit(self._signal, None)


def ask_first(url: str) -> None:
    """Ask a service for what its first page shows. What pages share is computed then, which takes seconds with a large
    store, and the first reader need not wait."""
    with suppress(httpx2.HTTPError), httpx2.Client(timeout=60, trust_env=False, verify=NO_CERTIFICATES) as http:
        for path in FIRST_PAGE:
            http.get(f"{url}{API_PREFIX}{path}")


def let_readers_in() -> None:
    """Give the threads of this process short turns, so that one that computes an answer delays the others little."""
    collect_seldom()
    sys.setswitchinterval(0.001)


class Service:
    """A running service of this process; its socket is bound first. As a context manager it closes the store, so
    everything that uses the store must end before. `installation` has the host and port where it listens."""

    def __init__(
        self, installation: Installation, lock: StoreLock, host: str, port: int, *, lasting: bool = True
    ) -> None:
        let_readers_in()
        settings = installation.settings
        self._lock = lock
        self._pruner: Pruner | None = None
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._socket = socket.create_server((host, port), family=family)
        except OSError as error:
            raise ServiceUnavailable(
                f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
            ) from None
        self.troubles = Troubles()
        self.replica = self._replica(installation) if lasting else None
        if self.replica is None:
            self.store = installation.open_store(_log.warning if lasting else None)
            for loss in restore(self.store, installation.run_folders()):
                _log.warning("%s", loss)
                self.troubles.add("store", f"{loss}.")
        if lasting and settings.keep_batches_days:
            keep, here = timedelta(days=settings.keep_batches_days), settings.access == "local"
            may_write = self.replica.leads if self.replica else lambda: True
            self._pruner = Pruner(self.store, keep, self.troubles, measures_here=here, may_write=may_write)
        bound_port = self._socket.getsockname()[1]
        self.installation = Installation(settings.model_copy(update={"host": host, "port": bound_port}))
        own_url = self.installation.settings.own_url
        self.address = ServiceAddress(pid=os.getpid(), url=own_url, secret=secrets.token_hex(32), lasting=lasting)
        pages = settings.pages if (settings.pages / "index.html").is_file() else None
        gatekeeper = installation.gatekeeper(self.address.secret, self.store)
        self._supplies = installation.supplies(self.store)
        self.doorbell = installation.doorbell()
        self.channels = tuple(channel.rule for channel in installation.channels())
        app = create_app(
            self.store,
            gatekeeper,
            pages,
            self._supplies,
            self.doorbell,
            catalogue=installation.catalogue,
            scorecard_file=settings.scorecard,
            channels=self.channels,
            troubles=self.troubles,
            hosts=settings.host_names,
            pages_url=self.installation.settings.pages_url,
            embed_origins=settings.embedding_origins,
            views=installation.views(),
            repositories=installation.repositories(),
            backup=partial(installation.backup, self.store),
            writing=self.replica,
            login_by=installation.login(self.installation.settings.pages_url),
            anyone_reads=settings.readers == "anyone",
        )
        self.reading: Reading = app.state.reading
        self._server = _Server(config_of(app), app.state.streams)

    def _replica(self, installation: Installation) -> Replica | None:
        """None if no other process serves the store, which is not open yet otherwise."""
        settings = installation.settings.model_copy(update={"port": self._socket.getsockname()[1]})
        leases = installation.leases()
        if leases is None:
            return None
        assert settings.replica_lease
        self.store = installation.unopened_store()
        replica = Replica(
            leases,
            settings.replica_lease.rpartition(":")[2],
            f"{settings.replica_name} {settings.replica_url}",
            self.store,
            self._begin_to_write,
            StoreLock(settings.home / LOCK),
            self.troubles,
        )
        self.store.share(replica.may_write)
        return replica

    def _begin_to_write(self) -> None:
        """Raises StoreError."""
        self.store.migrate()
        if isinstance(self._supplies, Supplies):
            self._supplies.shared_store.begin()

    def run(self, beside: Beside | None = None) -> None:
        """Serve until a signal, and until the background work `beside` has ended. The work gets the signal first."""
        # Reading would disturb a run that goes on now on this machine.
        if self.address.lasting and (self.replica or not self.store.open_runs()):
            threading.Thread(target=ask_first, args=(self.address.url,), name="first answers", daemon=True).start()
        if self.replica:
            # The server raises the signal again at its end. By default it would end the process before the lease is
            # released.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit())
            self.replica.start()
        with ExitStack() as stack:
            if self._pruner:
                stack.enter_context(self._pruner.working())
            stack.enter_context(self._server.working(beside))
            self._server.run(sockets=[self._socket])

    def __enter__(self) -> Self:
        """Others find the service from now on, and are answered once it runs. Raises OSError."""
        try:
            self._lock.publish(self.address)
        except OSError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.store.close()
        if self.replica:
            self.replica.end()
        self._lock.release()

    @contextmanager
    def background(self) -> Iterator[ServiceAddress]:
        """Serve in a thread for as long as the context lasts."""
        thread = threading.Thread(target=self.run, name="service", daemon=True)
        with self:
            thread.start()
            try:
                wait_until_healthy(self.address)
                yield self.address
            finally:
                self._server.should_exit = True
                thread.join()
