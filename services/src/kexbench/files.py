"""Files that exist whole or not at all, even if the process is killed or the power fails."""

import os
import secrets
import shutil
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """The file has the old content or the new content, never a part. Its permissions stay."""
    make_folder(path.parent)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        shutil.copymode(path, partial)
    partial.replace(path)
    sync(path.parent)


def make_folder(path: Path) -> None:
    """With its parent folders, all synced to the disk."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
