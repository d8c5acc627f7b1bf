"""Replaces a folder by a new one, whole or not at all."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class CannotPublish(Exception):
    """Nothing was written. The text is the cause, `remedy` what the user can do."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(text)
        self.remedy = remedy


@contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Yields a path for the new content, which takes the place of `folder` if nothing is raised. Both are whole all the
    time, and one has that name except for the moment between two renames. What a killed process left is put in order.
    Raises CannotPublish."""
    hidden = folder.with_name(f".{folder.name}.publishing")
    new, old = hidden / "new", hidden / "old"
    with _held(hidden, folder):
        _put_back(folder, old)
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            yield new
            _replace(folder, new, old)
        finally:
            _put_back(folder, old)
            shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def _held(hidden: Path, folder: Path) -> Iterator[None]:
    """Holds a lock that the system frees when this process ends, however it ends."""
    hidden.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(hidden, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotPublish(f"another process publishes to {folder}", "wait until it has ended") from None
        yield
    finally:
        os.close(descriptor)


def _put_back(folder: Path, old: Path) -> None:
    """After whatever happened between the two renames."""
    if old.exists() and not folder.exists():
        old.rename(folder)


def _replace(folder: Path, new: Path, old: Path) -> None:
    try:
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        raise CannotPublish(f"{folder} cannot be replaced: {error.strerror}", "name a folder inside it") from None
