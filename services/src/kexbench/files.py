"""Files that exist whole or not at all, even if the process is killed or the power fails."""

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MOST_DOCUMENT_BYTES = 1 << 22
"""More than any document may have."""


def write_whole(path: Path, content: bytes) -> None:
    """The file has the old content or the new content, never a part. Its permissions stay."""
    make_folder(path.parent)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with partial.open("wb") as file:
        file.write(content)
        _put_in_place(file, path)


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """The same for a file that is written piece by piece, to `.NAME.partial` next to it. What a killed process left
    there is overwritten. Nothing changes if the context ends with an error. Raises BlockingIOError while another
    process writes the same file."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            file.truncate(0)
            yield file
            _put_in_place(file, path)
        except BaseException:
            partial.unlink()
            raise


def _put_in_place(file: BinaryIO, path: Path) -> None:
    file.flush()
    os.fsync(file.fileno())
    if path.exists():
        shutil.copymode(path, file.name)
    Path(file.name).replace(path)
    sync(path.parent)


def read_document(path: Path) -> str:
    """The text of a file that a person wrote, in UTF-8, or its beginning if it is longer than any document. Raises
    UnicodeDecodeError, and OSError also for a device and for a pipe that nobody may ever write to."""
    named = not str(path.absolute()).startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/"))
    if not stat.S_ISREG(mode := path.stat().st_mode) and (named or not stat.S_ISFIFO(mode)):
        raise OSError(errno.EINVAL, "Is a directory" if stat.S_ISDIR(mode) else "not a file", str(path))
    with path.open("rb") as file:
        return file.read(MOST_DOCUMENT_BYTES).decode()


def make_folder(path: Path) -> None:
    """With its parent folders, all synced to the disk."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    sync(path.parent)


def move(source: Path, target: Path) -> None:
    """Also to another file system. The target is whole or absent."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    else:
        return
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        if source.is_dir():
            shutil.copytree(source, partial, symlinks=True)
            for path in partial.rglob("*"):
                if not path.is_symlink():
                    sync(path)
        else:
            shutil.copy2(source, partial)
            sync(partial)
        partial.rename(target)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
