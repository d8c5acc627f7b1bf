"""Finds the process that serves the store, or serves it here."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx2

from kexbench.api.calling import API_PREFIX, NO_CERTIFICATES
from kexbench.settings import Settings
from kexbench.store.lock import ServiceAddress, StoreLock
from kexbench.wiring import Installation

LOCK = "store.lock"
START_TIMEOUT_S = 60.0
_POLL_S = 0.05


class ServiceUnavailable(Exception):
    """No process serves the store, and this one cannot; the text says why."""


def store_lock(settings: Settings) -> StoreLock:
    """Of several processes that share a store and its home, each has a lock of its own machine."""
    return StoreLock((settings.cache if settings.replica_lease else settings.home) / LOCK)


def own_store(settings: Settings) -> StoreLock:
    """The lock of the store, once commands that serve it briefly have ended. Raises ServiceUnavailable if a lasting
    service holds it."""
    lock = store_lock(settings)
    deadline = time.monotonic() + START_TIMEOUT_S
    while not lock.acquire():
        owner = lock.read()
        if (owner and owner.lasting) or time.monotonic() > deadline:
            where = f" at {owner.url}" if owner and is_healthy(owner) else ""
            raise ServiceUnavailable(f"process {owner.pid if owner else 'unknown'} already serves this store{where}")
        time.sleep(_POLL_S)
    return lock


def lasting_service(settings: Settings) -> ServiceAddress | None:
    """The lasting service of the store, or None."""
    address = store_lock(settings).read()
    return address if address and address.lasting and is_healthy(address) else None


@contextmanager
def reach_service(installation: Installation) -> Iterator[ServiceAddress]:
    """The address of the running service. If none runs, one is started for as long as the context lasts.

    Raises ServiceUnavailable or StoreError.
    """
    lock = store_lock(installation.settings)
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if lock.acquire():
            try:
                # Imported here: it takes a second, and only the serving process needs it.
                from kexbench.service.serving import Service  # noqa: PLC0415

                service = Service(installation, lock, "127.0.0.1", 0, lasting=False)
            except BaseException:
                lock.release()
                raise
            with service.background() as address:
                yield address
            return
        owner_address = lock.read()
        if owner_address and is_healthy(owner_address):
            yield owner_address
            return
        time.sleep(_POLL_S)
    owner = lock.read()
    raise ServiceUnavailable(
        f"process {owner.pid if owner else 'unknown'} holds the store but does not answer: end it, then try again"
    )


def is_healthy(address: ServiceAddress) -> bool:
    with suppress(httpx2.HTTPError):
        url = f"{address.url}{API_PREFIX}/health"
        return httpx2.get(url, timeout=5, trust_env=False, verify=NO_CERTIFICATES).is_success
    return False


def wait_until_healthy(address: ServiceAddress) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not is_healthy(address):
        if time.monotonic() > deadline:
            raise ServiceUnavailable("the service does not answer")
        time.sleep(_POLL_S)
