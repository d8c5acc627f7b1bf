"""Relinks: the same static library with its objects in another order, so that only the code layout differs.

The spread of five relinks is the effect of layout alone. A difference between two libraries must exceed it. The build
profile says that a kit is relinked, but not in which order, so that relinks of one source can be compared.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.kits import BuildProfile
from kexbench.domain.libraries import LAYOUTS
from kexbench.kits.archives import archive_members
from kexbench.kits.closure import is_libc
from kexbench.kits.errors import StepFailed


@dataclass(frozen=True)
class StaticParts:
    """The inputs of a relink: archives whose objects are shuffled, and the other words of the link line."""

    archives: tuple[Path, ...]
    words: tuple[str, ...]

    def shuffled(self, seed: int, folder: Path) -> tuple[str, ...]:
        """The words of the link line, with the objects in a response file in the new `folder`.

        The order depends only on the seed and on each object's archive and position.
        """
        folder.mkdir()
        objects: list[Path] = []
        for archive in self.archives:
            for position, content in enumerate(archive_members(archive)):
                objects.append(folder / f"{archive.stem}-{position}.o")
                objects[-1].write_bytes(content)
        objects.sort(key=lambda path: hashlib.sha256(f"relink={seed} {path.name}".encode()).digest())
        response = folder / "objects"
        response.write_text("".join(f"{path}\n" for path in objects), encoding="utf-8")
        return f"@{response}", *self.words


def static_parts(library: str, libraries: Mapping[str, Path]) -> StaticParts:
    """The static archives next to a shared library and its dependencies (soname -> file). Others stay shared.

    Raises StepFailed if a required archive is missing.
    """
    layout = LAYOUTS[library]
    objects = (*layout.names, *layout.relinked_too)
    archives: dict[str, Path] = {}
    words: list[str] = []
    for soname, path in sorted(libraries.items()):
        name = soname.partition(".so")[0]
        archive = path.resolve().with_name(f"{name}.a")
        if name in objects and archive.is_file():
            archives[name] = archive
        elif not is_libc(soname):
            words.append(str(path))
    for name in layout.names:
        if name not in archives:
            raise StepFailed(
                "resolve",
                f"there is no static {name}.a next to the shared library, and a relink needs its objects",
                "install or build the static library too, or leave out +relink",
            )
    # Libraries that the worker doesn't need itself must not be loaded.
    return StaticParts(
        tuple(archives[name] for name in objects if name in archives),
        ("-Wl,--as-needed", *words, "-ldl", "-pthread"),
    )


def relinked_profile(profile: BuildProfile) -> BuildProfile:
    """The profile of all relinks of a build with this profile."""
    flags = "relink" if profile.flags in ("distribution", "unknown") else f"{profile.flags} relink"
    return profile.model_copy(update={"linkage": "static", "flags": flags})
