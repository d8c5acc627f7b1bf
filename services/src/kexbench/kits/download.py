"""Downloads a file with a known SHA-256. The file appears complete and verified, or not at all."""

import hashlib
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt

_SILENCE_MAX_S = 60
_WHOLE_MAX_S = 3600
_REDIRECTS_MAX = 5
_REPORT_EVERY_BYTES = 16 << 20
_ALLOWED_AFTER = {"http": ("http", "https"), "https": ("https",)}
"""Allowed schemes of a redirect: from HTTP to HTTPS, but not back."""


def download(address: str, sha256: str, target: Path, attempt: Attempt, most_bytes: int) -> None:
    """Fetch a file to `target`, whose folder exists. Raises StepFailed."""
    attempt.note(f"fetching {address}")
    partial = target.with_name(f".{target.name}.partial")
    # The machine's trusted certificates, so that a proxy with its own certificate works.
    client = httpx2.Client(verify=ssl.create_default_context(), timeout=_SILENCE_MAX_S)
    try:
        with client, _answer(client, address) as response:
            actual = _copy(response, partial, attempt, most_bytes)
        if actual != sha256:
            raise wrong_hash(address, actual, sha256)
        partial.replace(target)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise StepFailed(
            "fetch", f"{address} can't be fetched: {reason}", "check the address and the network"
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def wrong_hash(what: str, actual: str, promised: str) -> StepFailed:
    """The error for a file that doesn't match the SHA-256 in its reference."""
    return StepFailed(
        "fetch",
        f"{what} has the SHA-256 {actual}, but the reference says {promised}",
        "check which one the publisher states, and write it after #sha256=",
    )


@contextmanager
def _answer(client: httpx2.Client, address: str) -> Iterator[httpx2.Response]:
    """The response after all redirects."""
    request = client.build_request("GET", address, headers={"Accept-Encoding": "identity"})
    for _ in range(_REDIRECTS_MAX + 1):
        response = client.send(request, stream=True)
        try:
            if response.next_request is None:
                response.raise_for_status()
                yield response
                return
        finally:
            response.close()
        if response.next_request.url.scheme not in _ALLOWED_AFTER[request.url.scheme]:
            raise StepFailed(
                "fetch",
                f"{request.url} redirects to {response.next_request.url}, which is less secure",
                "use an address without such a redirect",
            )
        request = response.next_request
    raise StepFailed("fetch", f"{address} redirects more than {_REDIRECTS_MAX} times", "use the final address")


def _copy(response: httpx2.Response, target: Path, attempt: Attempt, most_bytes: int) -> str:
    """Write the response as received, without decoding, and return its SHA-256."""
    digest, size, reported_size = hashlib.sha256(), 0, 0
    end = time.monotonic() + _WHOLE_MAX_S
    with target.open("wb") as file:
        for chunk in response.iter_raw():
            size += len(chunk)
            if size > most_bytes:
                raise StepFailed("fetch", f"{response.url} is larger than {most_bytes >> 20} MiB", "check the address")
            if time.monotonic() > end:
                raise StepFailed("fetch", f"{response.url} took longer than {_WHOLE_MAX_S} s", "download it manually")
            digest.update(chunk)
            file.write(chunk)
            if size - reported_size >= _REPORT_EVERY_BYTES:
                attempt.note(f"received {size >> 20} MiB")
                reported_size = size
    return digest.hexdigest()
