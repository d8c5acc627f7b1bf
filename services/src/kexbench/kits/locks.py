"""A lock between processes that ends with its owner, however the owner ends."""

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
    """Holds the lock file `path`, and yields its descriptor: whoever inherits that holds the lock as well. Waits as
    long as another process has it. `does` tells others what this one does with it, `on_wait` is told whom this waits
    for. `while_waiting` is called again and again, and ends the waiting when it raises: a thread that waits gets no
    Ctrl-C."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        told = ""
        while not _taken(descriptor):
            owner = os.pread(descriptor, 1000, 0).decode(errors="replace")
            if owner and owner != told:
                on_wait(f"waiting for {owner}")
                told = owner
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
