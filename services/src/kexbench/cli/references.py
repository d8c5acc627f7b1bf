"""References as people type them: relative to where they are, with `~` for their home."""

from pathlib import Path

import typer

from kexbench.domain.kits import SubjectRef
from kexbench.domain.variants import split_variant


def absolute_reference(text: str, cwd: Path) -> str:
    """`openssl@prefix:../build+relink=3` with its folder made absolute; any other text as it is.

    Links are followed only where `..` would else name another folder. Raises ValueError.
    """
    library, at, source = text.partition("@")
    if not (at and source.startswith("prefix:")):
        return text
    origin, _ = split_variant(source)
    variants = source.removeprefix(origin)
    folder = (cwd / Path(origin.removeprefix("prefix:")).expanduser()).absolute()
    return f"{library}@prefix:{folder.resolve() if '..' in folder.parts else folder}{variants}"


def typed_reference(text: str) -> SubjectRef:
    """The reference that a person typed. Raises BadParameter."""
    try:
        return SubjectRef.parse(absolute_reference(text, Path.cwd()))
    except (ValueError, RuntimeError) as error:  # RuntimeError: a home folder that can't be determined
        raise typer.BadParameter(str(error)) from None
