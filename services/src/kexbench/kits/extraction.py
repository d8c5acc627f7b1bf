"""Archives from elsewhere laid out on disk: nothing lands outside of the folder, and nothing is left that leads there.

Python's own filter for this is used where there is one (3.11.4). The checks here come first: distributions of today
have an older Python, and archives shall be treated alike everywhere.

A name that climbs (`..`) behind another one is refused, since what it leads to depends on links that may be made later:
`x/..` is the folder itself until `x` becomes a link to `.`. Every other link leads from a real folder, which no archive
can replace, through names that are each checked alike.
"""

import os
import tarfile
from pathlib import Path, PurePosixPath


class UnsafeMember(Exception):
    """A member that leads outside or is no file, folder or link; the text names it."""


def extract(packed: tarfile.TarFile, folder: Path) -> None:
    """Lay out all members in `folder`, as files of whoever does so. Raises UnsafeMember, TarError and OSError."""
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
    folder = (root / member.name).parent.resolve()  # an earlier member may have made a link of it
    if ".." in PurePosixPath(member.name).parts or not folder.is_relative_to(root):
        raise UnsafeMember(f"{member.name} leads outside")
    if member.issym() and _leaves(root, folder, member.linkname):
        raise UnsafeMember(f"{member.name} links to {member.linkname}, which leads outside")
    if member.islnk() and (_leaves(root, root, member.linkname) or not _is_inside(root, member.linkname)):
        raise UnsafeMember(f"{member.name} links to {member.linkname}, which leads outside")


def _leaves(root: Path, folder: Path, target: str) -> bool:
    """Whether a link in `folder`, which has no link in its path, leads or may later lead out of `root`."""
    names = PurePosixPath(target).parts
    climbs = next((place for place, name in enumerate(names) if name != ".."), len(names))
    if PurePosixPath(target).is_absolute() or ".." in names[climbs:]:
        return True
    return not Path(os.path.normpath(folder / target)).is_relative_to(root)


def _is_inside(root: Path, target: str) -> bool:
    """Of a hard link: it is made to what is there now, through all links on the way."""
    return (root / target).resolve().is_relative_to(root)
