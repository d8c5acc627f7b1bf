"""References as people type them: with relative paths and `~`."""

import hashlib
import re
from pathlib import Path

import typer

from kexbench.domain.kits import SubjectRef
from kexbench.domain.variants import split_variant

_KINDS_WITH_PATHS = ("prefix", "deb", "tarball", "git")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://")


def absolute_reference(text: str, cwd: Path) -> str:
    """Makes the path of `prefix:`, `deb:`, `tarball:` and `git:` absolute, as in `openssl@prefix:../build+relink=3`.
    Keeps URLs and any other text. Adds the SHA-256 of a tarball if it is missing.

    Resolves symbolic links only in paths with `..`. Raises ValueError.
    """
    library, at, source = text.partition("@")
    kind, colon, _ = source.partition(":")
    if not (at and colon and kind in _KINDS_WITH_PATHS):
        return text
    origin, _ = split_variant(source)
    variants = source.removeprefix(origin)
    place, mark, fragment = origin.removeprefix(f"{kind}:").partition("#")
    if not _ADDRESS.match(place):
        path = (cwd / Path(place).expanduser()).absolute()
        place = str(path.resolve() if ".." in path.parts else path)
        if kind == "tarball" and not mark:
            mark, fragment = "#", f"sha256={_sha256(Path(place))}"
    return f"{library}@{kind}:{place}{mark}{fragment}{variants}"


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None


def typed_reference(text: str) -> SubjectRef:
    """The reference that a person typed. Raises BadParameter."""
    try:
        return SubjectRef.parse(absolute_reference(text, Path.cwd()))
    except (ValueError, RuntimeError) as error:  # RuntimeError: unknown home folder
        raise typer.BadParameter(str(error)) from None
