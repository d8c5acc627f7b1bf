"""Sources before the build: finding their version, and unpacking an archive."""

import tarfile
import zlib
from lzma import LZMAError
from pathlib import Path, PurePosixPath

from kexbench.domain.libraries import VERSION_FILES
from kexbench.kits.errors import Stage, StepFailed
from kexbench.kits.extraction import UnsafeMember, extract

_READ_MAX = 1 << 20
_DAMAGED = (tarfile.TarError, EOFError, LZMAError, zlib.error, OSError)


def told_version(library: str, path: str, text: str) -> str | None:
    """The version in the text of one of the VERSION_FILES, or None."""
    parse = VERSION_FILES[library][path]
    if callable(parse):
        return parse(text)
    match = parse.search(text)
    return match[1] if match else None


def no_version(library: str, what: str) -> StepFailed:
    """The error if none of the VERSION_FILES contains a version."""
    places = " or ".join(VERSION_FILES[library])
    return StepFailed("resolve", f"{what} contains no sources of {library}", f"the version should be in {places}")


def version_in(library: str, archive: Path, folder: str = "") -> str:
    """The version of packed sources, read without unpacking. `folder`: where in the archive's top folder they are.
    Raises StepFailed."""
    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                place = _version_file(library, member.name, folder)
                content = packed.extractfile(member) if place and member.isfile() else None
                if place and content:
                    text = content.read(_READ_MAX).decode(errors="replace")
                    if version := told_version(library, place, text):
                        return version
    except _DAMAGED as error:
        raise _unreadable(archive, "resolve", error) from error
    raise no_version(library, str(archive))


def _version_file(library: str, member: str, folder: str) -> str | None:
    """The VERSION_FILE that a member is, in the archive's root or in its top folder; None if it is none."""
    path = PurePosixPath(member)
    candidates = (path, PurePosixPath(*path.parts[1:]))
    return next((place for place in VERSION_FILES[library] if PurePosixPath(folder, place) in candidates), None)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into an empty folder. Returns its single top folder, or the folder itself.

    Raises StepFailed, also for members outside of the folder.
    """
    try:
        with tarfile.open(archive) as packed:
            extract(packed, folder)
    except UnsafeMember as error:
        raise StepFailed("fetch", f"{archive} is unsafe: {error}", "don't build it") from error
    except _DAMAGED as error:
        raise _unreadable(archive, "fetch", error) from error
    top = list(folder.iterdir())
    return top[0] if len(top) == 1 and top[0].is_dir() else folder


def _unreadable(archive: Path, stage: Stage, error: Exception) -> StepFailed:
    reason = f"{archive} can't be unpacked: {str(error) or type(error).__name__}"
    remedy = "use a complete tar archive, uncompressed or compressed with gzip, xz or bzip2"
    return StepFailed(stage, reason, remedy)
