"""References as people type them: relative to where they are, with `~` for their home."""

import hashlib
import re
from pathlib import Path

import typer

from kexbench.domain.kits import SubjectRef
from kexbench.domain.variants import split_variant

_KINDS_WITH_PATHS = ("prefix", "tarball", "git")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://")


def absolute_reference(text: str, cwd: Path) -> str:
    """`openssl@prefix:../build+relink=3` with its path made absolute, and so for `tarball:` and `git:` unless they name
    an address; any other text as it is. A tarball's SHA-256 is filled in where it is left out.

    Links are followed only where `..` would else name another folder. Raises ValueError.
    """
    library, at, source = text.partition("@")
    kind, colon, _ = source.partition(":")
    if not (at and colon and kind in _KINDS_WITH_PATHS):
        return text
    origin, _ = split_variant(source)
    variants = source.removeprefix(origin)
    place, mark, meant = origin.removeprefix(f"{kind}:").partition("#")
    if not _ADDRESS.match(place):
        path = (cwd / Path(place).expanduser()).absolute()
        place = str(path.resolve() if ".." in path.parts else path)
        if kind == "tarball" and not mark:
            mark, meant = "#", f"sha256={_sha256(Path(place))}"
    return f"{library}@{kind}:{place}{mark}{meant}{variants}"


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from None


def typed_reference(text: str) -> SubjectRef:
    """The reference that a person typed. Raises BadParameter."""
    try:
        return SubjectRef.parse(absolute_reference(text, Path.cwd()))
    except (ValueError, RuntimeError) as error:  # RuntimeError: a home folder that can't be determined
        raise typer.BadParameter(str(error)) from None
