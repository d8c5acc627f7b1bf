"""The lock of an installation's store: one process owns it, and publishes the address where it listens."""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True)
class ServiceAddress:
    """The address of the store's owner, and the secret that signs upload tokens."""

    pid: int
    url: str
    secret: str
    lasting: bool = True
    """False for a command that serves only while it needs the store."""


class StoreLock:
    """Held by the process that has the store open. The system frees it when that process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def acquire(self) -> bool:
        """Returns whether this process owns the store now; never waits."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        file = os.fdopen(descriptor, "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        file.truncate(0)
        self._file = file
        return True

    def publish(self, address: ServiceAddress) -> None:
        """Publish the owner's address to other processes of this user. Raises OSError."""
        assert self._file is not None
        content = json.dumps(asdict(address)).encode()
        try:
            os.pwrite(self._file.fileno(), content, 0)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from None

    def read(self) -> ServiceAddress | None:
        """The published address; None while the owner is starting."""
        try:
            return ServiceAddress(**json.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def release(self) -> None:
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None
