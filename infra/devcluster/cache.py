"""Folders of the cache that are there whole or not at all, named after what they are made from."""

import fcntl
import hashlib
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kexbench.settings import Settings

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]


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
    return digest.hexdigest()[:16]


def made_once(name: str, parts: Iterable[str | bytes | Path], make: Callable[[Path], None]) -> Path:
    """The cache's folder `name-<key of parts>`, which `make` fills where it is missing.

    Two processes that want the same folder wait for each other; a process that is killed leaves nothing that counts.
    """
    folder = cache_root() / f"{name}-{key_of(parts)}"
    if folder.is_dir():
        return folder
    with _alone(folder.with_name(f".{folder.name}.lock")):
        if not folder.is_dir():
            scratch = folder.with_name(f".{folder.name}.new")
            _remove(scratch)
            scratch.mkdir()
            make(scratch)
            scratch.rename(folder)
    return folder


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
