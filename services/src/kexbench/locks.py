"""A lock between processes that is released when its owner ends, even by a crash."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_S = 0.1


@contextmanager
def locked(
    path: Path,
    on_wait: Callable[[str], None],
    while_waiting: Callable[[], None] = lambda: None,
    *,
    does: str = "is making a kit",
) -> Iterator[int]:
    """Holds the lock file `path` and yields its descriptor; a process that inherits the descriptor holds the lock too.
    Waits while another process holds it. `does` tells waiting processes what this one does. `on_wait` receives the
    current owner. `while_waiting` is called repeatedly and ends the wait by raising: Ctrl-C doesn't reach a waiting
    thread."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        reported_owner = ""
        while not _taken(descriptor):
            owner = os.pread(descriptor, 1000, 0).decode(errors="replace")
            if owner and owner != reported_owner:
                on_wait(f"waiting for {owner}")
                reported_owner = owner
            while_waiting()
            time.sleep(_POLL_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}, which {does}".encode(), 0)
        try:
            yield descriptor
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
