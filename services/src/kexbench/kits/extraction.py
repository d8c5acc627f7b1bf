"""Unpacks untrusted archives: no file lands outside of the folder, and no link leads out of it.

Python's own filter is used if it exists (3.11.4). The checks here come first, since current distributions have an
older Python, and all machines must treat archives the same way.

A `..` after another name is refused, since its target depends on links that may be created later:
`x/..` is the folder itself until `x` becomes a link to `.`. Every other link starts in a real folder, which no archive
can replace, and passes only names that are checked in the same way.
"""

import os
import tarfile
from pathlib import Path, PurePosixPath


class UnsafeMember(Exception):
    """A member that leads outside, or is no file, folder or link. The text names it."""


def extract(packed: tarfile.TarFile, folder: Path) -> None:
    """Unpack all members into `folder`, owned by the current user. Raises UnsafeMember, TarError and OSError."""
    packed.extraction_filter = staticmethod(getattr(tarfile, "data_filter", lambda member, _: member))
    root = folder.resolve()
    for member in packed:
        _check(member, root)
        member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
        if not member.issym():
            member.mode = (0o755 if member.isdir() else member.mode & 0o755) | 0o600
        packed.extract(member, folder)


def _check(member: tarfile.TarInfo, root: Path) -> None:
    if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
        raise UnsafeMember(f"{member.name} is neither a file, a folder nor a link")
    folder = (root / member.name).parent.resolve()  # an earlier member may have created a link here
    if ".." in PurePosixPath(member.name).parts or not folder.is_relative_to(root):
        raise UnsafeMember(f"{member.name} leads outside")
    if member.issym() and _leaves(root, folder, member.linkname):
        raise UnsafeMember(f"{member.name} links to {member.linkname}, which leads outside")
    if member.islnk() and (_leaves(root, root, member.linkname) or not _is_inside(root, member.linkname)):
        raise UnsafeMember(f"{member.name} links to {member.linkname}, which leads outside")


def _leaves(root: Path, folder: Path, target: str) -> bool:
    """Whether a link in `folder` leads out of `root`, now or later. `folder` has no link in its path."""
    names = PurePosixPath(target).parts
    climbs = next((place for place, name in enumerate(names) if name != ".."), len(names))
    if PurePosixPath(target).is_absolute() or ".." in names[climbs:]:
        return True
    return not Path(os.path.normpath(folder / target)).is_relative_to(root)


def _is_inside(root: Path, target: str) -> bool:
    """Whether the target of a hard link is inside, after following all links."""
    return (root / target).resolve().is_relative_to(root)
