"""Layers of images: deterministic tar files of what a tree has more than another."""

import filecmp
import hashlib
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FOLDER_MODE = 0o755


@dataclass(frozen=True)
class Layer:
    """A tar file, and the SHA-256 of it, by which images name it."""

    path: Path
    digest: str


def write_layer(target: Path, tree: Path, without: Path | None = None, prefix: str = "") -> None:
    """A tar of a tree, or of what is in it and not the same in the tree `without`, and its digest beside it.

    Owner, time and order are fixed, so the same files make the same layer. `prefix` is where the tree will be.
    """
    with target.open("wb") as file, tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for part in Path(prefix).parents:
            if part.name:
                tar.addfile(_folder(str(part)))
        if prefix:
            tar.addfile(_folder(prefix))
        for path in _walk(tree):
            inside = path.relative_to(tree)
            if without is None or not _same(path, without / inside):
                _add(tar, path, str(Path(prefix) / inside))
    with target.open("rb") as written:
        digest = hashlib.file_digest(written, "sha256").hexdigest()
    target.with_suffix(".sha256").write_text(digest)


def read_layer(path: Path) -> Layer:
    return Layer(path, path.with_suffix(".sha256").read_text())


def _walk(tree: Path) -> Iterator[Path]:
    for entry in sorted(os.scandir(tree), key=lambda each: each.name):
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))


def _same(path: Path, other: Path) -> bool:
    if not os.path.lexists(other):
        return False
    mine, theirs = path.lstat(), other.lstat()
    if (mine.st_mode, mine.st_uid, mine.st_gid) != (theirs.st_mode, theirs.st_uid, theirs.st_gid):
        return False
    if stat.S_ISLNK(mine.st_mode):
        return path.readlink() == other.readlink()
    return stat.S_ISDIR(mine.st_mode) or filecmp.cmp(path, other, shallow=False)


def _folder(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode = tarfile.DIRTYPE, _FOLDER_MODE
    return info


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    found = path.lstat()
    info = tarfile.TarInfo(name)
    info.mode = stat.S_IMODE(found.st_mode)
    info.uid, info.gid = found.st_uid, found.st_gid
    if stat.S_ISLNK(found.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
        tar.addfile(info)
    elif stat.S_ISDIR(found.st_mode):
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    elif stat.S_ISREG(found.st_mode):
        info.size = found.st_size
        with path.open("rb") as file:
            tar.addfile(info, file)
