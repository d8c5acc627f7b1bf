"""Folders of the cache that are there whole or not at all, named after what they are made from."""

import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kexbench.settings import Settings

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
KEY_DIGITS = 16
UNUSED_S = 7 * 24 * 3600
"""After this, what was made from older files is removed when it is made anew. Images take gigabytes."""


def say(line: str) -> None:
    """One line of progress."""
    print(line, file=sys.stderr, flush=True)


def cache_root() -> Path:
    return Settings().cache.absolute() / "devcluster"


def key_of(parts: Iterable[str | bytes | Path]) -> str:
    """A name for what is made from these texts and files; of files the content counts, not the place."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, Path) else part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()[:KEY_DIGITS]


def made_once(name: str, parts: Iterable[str | bytes | Path], make: Callable[[Path], None]) -> Path:
    """The cache's folder `name-<key of parts>`, which `make` fills where it is missing.

    Two processes that want the same folder wait for each other; a process that is killed leaves nothing that counts.
    """
    folder = cache_root() / f"{name}-{key_of(parts)}"
    if not folder.is_dir():
        with _alone(folder):
            if not folder.is_dir():
                scratch = _scratch(folder)
                _remove(scratch)
                scratch.mkdir()
                make(scratch)
                scratch.rename(folder)
        _remove_unused(folder, name)
    os.utime(folder)  # it is in use
    return folder


def _remove_unused(folder: Path, name: str) -> None:
    for other in folder.parent.glob(f"{name}-{'[0-9a-f]' * KEY_DIGITS}"):
        with _alone(other):  # another process may be removing it
            if other.is_dir() and time.time() - other.stat().st_mtime > UNUSED_S:
                _remove(_scratch(other))
                other.rename(_scratch(other))
                _remove(_scratch(other))


def _scratch(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.new")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    path = folder.with_name(f".{folder.name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
