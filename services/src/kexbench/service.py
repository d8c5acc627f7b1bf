"""The service as one process: whoever needs the store either reaches the process that has it or becomes it."""

import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

import httpx
import uvicorn

from kexbench.api.app import API_PREFIX, create_app
from kexbench.settings import Settings
from kexbench.store.lock import ServiceAddress, StoreLock
from kexbench.wiring import Installation

START_TIMEOUT_S = 60.0
_POLL_S = 0.05


class ServiceUnavailable(Exception):
    """Nobody serves the store, and it cannot be served here; the text says why."""


class Beside(Protocol):
    """Works in a thread for as long as the service lasts."""

    def work(self) -> None: ...
    def end(self) -> None:
        """Called for each signal: the first asks for an end, the others for it at once."""
        ...


class _Server(uvicorn.Server):
    """Serves on after a signal until what works beside it has ended: that still has results to deliver."""

    _beside: Beside | None = None
    _signal: int | None = None

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


class Service:
    """A running service of this process, on a socket bound before anything else."""

    def __init__(
        self, installation: Installation, lock: StoreLock, host: str, port: int, *, lasting: bool = True
    ) -> None:
        settings = installation.settings
        self._lock = lock
        try:
            self._socket = socket.create_server((host, port))
        except OSError as error:
            raise ServiceUnavailable(
                f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
            ) from None
        self.store = installation.open_store()
        bound = self._socket.getsockname()[1]
        named = f"[{host}]" if ":" in host else host
        self.address = ServiceAddress(
            pid=os.getpid(), url=f"http://{named}:{bound}", secret=secrets.token_hex(32), lasting=lasting
        )
        pages = settings.pages if (settings.pages / "index.html").is_file() else None
        gatekeeper, supplies = installation.gatekeeper(self.address.secret), installation.supplies(self.store)
        self.doorbell = installation.doorbell()
        app = create_app(self.store, gatekeeper, pages, supplies, self.doorbell)
        config = uvicorn.Config(app, log_level="warning", access_log=False, workers=1, timeout_graceful_shutdown=5)
        self._server = _Server(config)

    def run(self, beside: Beside | None = None) -> None:
        """Serve until a signal asks for an end, and until what works `beside` it has ended, which is asked to first."""
        self._lock.publish(self.address)
        try:
            with self._server.working(beside):
                self._server.run(sockets=[self._socket])
        finally:
            self.store.close()
            self._lock.release()

    @contextmanager
    def background(self) -> Iterator[ServiceAddress]:
        """Serve in a thread for as long as the context lasts."""
        thread = threading.Thread(target=self.run, name="service", daemon=True)
        thread.start()
        try:
            _wait_until_healthy(self.address)
            yield self.address
        finally:
            self._server.should_exit = True
            thread.join()


def store_lock(settings: Settings) -> StoreLock:
    return StoreLock(settings.home / "store.lock")


def own_store(settings: Settings) -> StoreLock:
    """The lock of the store, once commands that serve it for a moment have ended. Raises ServiceUnavailable where
    somebody serves it for longer."""
    lock = store_lock(settings)
    deadline = time.monotonic() + START_TIMEOUT_S
    while not lock.acquire():
        owner = lock.read()
        if (owner and owner.lasting) or time.monotonic() > deadline:
            where = f" at {owner.url}" if owner and is_healthy(owner) else ""
            raise ServiceUnavailable(f"process {owner.pid if owner else 'unknown'} serves this store already{where}")
        time.sleep(_POLL_S)
    return lock


def lasting_service(settings: Settings) -> ServiceAddress | None:
    """The service that somebody keeps running, or None."""
    address = store_lock(settings).read()
    return address if address and address.lasting and is_healthy(address) else None


@contextmanager
def reach_service(installation: Installation) -> Iterator[ServiceAddress]:
    """The address of the running service; where none runs, of one that lasts as long as the context.

    Raises ServiceUnavailable or StoreError.
    """
    lock = store_lock(installation.settings)
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if lock.acquire():
            try:
                service = Service(installation, lock, "127.0.0.1", 0, lasting=False)
            except BaseException:
                lock.release()
                raise
            with service.background() as address:
                yield address
            return
        address_of_owner = lock.read()
        if address_of_owner and is_healthy(address_of_owner):
            yield address_of_owner
            return
        time.sleep(_POLL_S)
    owner = lock.read()
    raise ServiceUnavailable(
        f"process {owner.pid if owner else 'unknown'} holds the store but does not answer: end it, then try again"
    )


def is_healthy(address: ServiceAddress) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{address.url}{API_PREFIX}/health", timeout=5, trust_env=False).is_success
    return False


def _wait_until_healthy(address: ServiceAddress) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not is_healthy(address):
        if time.monotonic() > deadline:
            raise ServiceUnavailable("the service does not answer")
        time.sleep(_POLL_S)
