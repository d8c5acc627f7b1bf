"""The lock of an installation's store: one process owns it, and publishes the address where it listens."""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

_INODE = "inode"
"""Of the lock's own file, in what it says."""


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
        descriptor = self._file.fileno()
        content = json.dumps({**asdict(address), _INODE: os.fstat(descriptor).st_ino}).encode()
        try:
            os.pwrite(descriptor, content, 0)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from None

    def read(self) -> ServiceAddress | None:
        """The published address; None while the owner is starting, and in a copied home, whose file names the owner of
        another store."""
        try:
            with self._path.open("rb") as file:
                content = json.load(file)
                is_copied = content.pop(_INODE) != os.fstat(file.fileno()).st_ino
            return None if is_copied else ServiceAddress(**content)
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def release(self) -> None:
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None
