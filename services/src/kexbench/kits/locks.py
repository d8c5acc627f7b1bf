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
    path: Path, on_wait: Callable[[str], None], while_waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Holds the lock file `path`; waits as long as another process does. `on_wait` is told who it is. `while_waiting`
    is called again and again, and ends the waiting when it raises: a thread that waits gets no Ctrl-C."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if not _taken(descriptor):
            owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            on_wait(f"waiting for process {owner}, which is making a kit")
            while not _taken(descriptor):
                while_waiting()
                time.sleep(_POLL_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
