"""Relinks: the same static library, its objects in another order, so that nothing but code layout differs.

What five of them spread is what layout alone does to a number, and so the least that a difference between two
libraries has to exceed. The build profile says that a kit is relinked, not how: relinks of one source compare.
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
    """What a relink is made of: archives whose objects are shuffled, and words for the rest of the link line."""

    archives: tuple[Path, ...]
    words: tuple[str, ...]

    def shuffled(self, seed: int, folder: Path) -> tuple[str, ...]:
        """The link line's words, the objects behind a response file in the new `folder`.

        The order depends on nothing but the seed and where in which archive an object stands.
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
    """Of a shared library and all it needs (soname -> file): the archives that lie beside them, shared the rest.

    Raises StepFailed when an archive that is required is absent.
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
                f"there is no static {name}.a beside the shared library, and a relink is made of its objects",
                "install or build the static library too, or leave out +relink",
            )
    # Libraries that turn out not to be needed, or only by others, must not be loaded.
    return StaticParts(
        tuple(archives[name] for name in objects if name in archives),
        ("-Wl,--as-needed", *words, "-ldl", "-pthread"),
    )


def relinked_profile(profile: BuildProfile) -> BuildProfile:
    """The profile of any relink of what has this profile."""
    flags = "relink" if profile.flags in ("distribution", "unknown") else f"{profile.flags} relink"
    return profile.model_copy(update={"linkage": "static", "flags": flags})
