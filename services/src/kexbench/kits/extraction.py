"""Archives from elsewhere laid out on disk: nothing lands outside of the folder, and nothing is left that leads there.

Python has such a filter of its own from 3.11.4 on; distributions of today have older ones, and archives shall be
treated alike everywhere.
"""

import os
import tarfile
from pathlib import Path, PurePosixPath


class UnsafeMember(Exception):
    """A member that leads outside or is no file, folder or link; the text names it."""


def extract(packed: tarfile.TarFile, folder: Path) -> None:
    """Lay out all members in `folder`, as files of whoever does so. Raises UnsafeMember, TarError and OSError."""
    packed.extraction_filter = staticmethod(lambda member, _: member)
    root = folder.resolve()
    for member in packed:
        _check(member)
        place = folder / member.name
        if not place.parent.resolve().is_relative_to(root):  # through a link that an earlier member made
            raise UnsafeMember(f"{member.name} leads outside")
        member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
        if not member.issym():
            member.mode = (0o755 if member.isdir() else member.mode & 0o755) | 0o600
        packed.extract(member, folder)


def _check(member: tarfile.TarInfo) -> None:
    if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
        raise UnsafeMember(f"{member.name} is neither a file, a folder nor a link")
    if _leaves(PurePosixPath(member.name)):
        raise UnsafeMember(f"{member.name} leads outside")
    if member.issym() and _leaves(PurePosixPath(member.name).parent / member.linkname):
        raise UnsafeMember(f"{member.name} links to {member.linkname}, which leads outside")
    if member.islnk() and _leaves(PurePosixPath(member.linkname)):
        raise UnsafeMember(f"{member.name} links to {member.linkname}, which leads outside")


def _leaves(path: PurePosixPath) -> bool:
    """Whether a path relative to the folder is none, or climbs above it."""
    return path.is_absolute() or os.path.normpath(path).split("/")[0] == ".."
