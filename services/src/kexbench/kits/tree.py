"""Finds a library's headers and files in a build tree or an installation, or explains what is missing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kexbench.domain.libraries import LAYOUTS, Layout
from kexbench.kits.errors import StepFailed
from kexbench.kits.target import this_architecture

Linkage = Literal["shared", "static"]


_HEADER_FOLDERS, _LIBRARY_FOLDERS = ("include", "include/{triplet}"), ("lib64", "lib/{triplet}", "lib")
"""Folders of an installation. Those of a build tree are searched first."""
_SOURCES = ("Configure", "configure", "configure.ac")
_SOURCE_FOLDER = re.compile(r"^(?:SRCDIR|srcdir)\s*=\s*(\S+)$", re.MULTILINE)
_VERSIONED = re.compile(r".*\.so\.[0-9.]+")
_PRIVATE_LIBRARIES = re.compile(r"^Libs\.private:(.*)$", re.MULTILINE)
_LINKER_WORD = re.compile(r"-l[A-Za-z0-9_+.-]+|-pthread")


@dataclass(frozen=True)
class Tree:
    """A library's files. `headers` are keyed by the name in an include; `files` are the library's, in link order."""

    folder: Path
    version: str
    headers: Mapping[str, Path]
    library_folder: Path
    linkage: Linkage
    files: tuple[Path, ...]

    @property
    def makefile(self) -> str:
        """The text of the tree's Makefile; empty for an installation."""
        return _text(self.folder / "Makefile")

    def private_libraries(self) -> tuple[str, ...]:
        """The linker arguments of the libraries that OpenSSL's static library needs, from its pkg-config file."""
        for place in (self.library_folder / "pkgconfig", self.folder, self.folder / "exporters"):
            if match := _PRIVATE_LIBRARIES.search(_text(place / "libcrypto.pc")):
                return tuple(word for word in match[1].split() if _LINKER_WORD.fullmatch(word))
        return ("-ldl", "-pthread")


def find_tree(library: str, folder: Path) -> Tree:
    """Raises StepFailed, which says what is missing and how to fix it."""
    layout = LAYOUTS[library]
    if not folder.is_dir():
        raise StepFailed(
            "resolve", f"there is no folder {folder}", "name the folder of a build tree or an installation"
        )
    headers = _headers(layout, folder)
    files = _library(layout, folder)
    if layout.main_header not in headers or files is None:
        raise _incomplete(library, layout, folder, layout.main_header in headers, files is not None)
    version = layout.version.search(_text(headers[layout.main_header]))
    if version is None:
        raise StepFailed(
            "resolve",
            f"{headers[layout.main_header]} contains no version of {library}",
            "forks of OpenSSL are not supported" if library == "openssl" else "",
        )
    return Tree(folder, version[1], headers, *files)


def _headers(layout: Layout, folder: Path) -> dict[str, Path]:
    """Headers by include name. A tree built outside its sources has some headers there; generated ones win."""
    parent = Path(layout.main_header).parent
    roots = [folder]
    if match := _SOURCE_FOLDER.search(_text(folder / "Makefile")):
        roots.insert(0, folder / match[1])
    return {
        str(path.relative_to(place)): path
        for root in roots
        for place in _places(root, (*layout.built_headers, *_HEADER_FOLDERS))
        for path in sorted((place / parent).rglob("*.h"))
    }


def _library(layout: Layout, folder: Path) -> tuple[Path, Linkage, tuple[Path, ...]] | None:
    places = _places(folder, (*layout.built_libraries, *_LIBRARY_FOLDERS))
    for place in places:
        shared = [path for name in layout.names if (path := _shared(place, name))]
        if len(shared) == len(layout.names):
            return place, "shared", tuple(shared)
    for place in places if layout.static_alone else ():
        static = [path for name in layout.names if (path := place / f"{name}.a").is_file()]
        if len(static) == len(layout.names):
            return place, "static", tuple(static)
    return None


def _shared(place: Path, name: str) -> Path | None:
    """The link without a version points to the latest build. Some installations have only versioned files."""
    versions = [path for path in sorted(place.glob(f"{name}.so.*")) if _VERSIONED.fullmatch(path.name)]
    return next((path for path in (place / f"{name}.so", *reversed(versions)) if path.is_file()), None)


def _places(root: Path, parts: tuple[str, ...]) -> list[Path]:
    return [root / part.format(triplet=this_architecture().triplet) for part in parts]


def _incomplete(library: str, layout: Layout, folder: Path, has_headers: bool, has_library: bool) -> StepFailed:
    if any((folder / name).exists() for name in _SOURCES):
        return StepFailed("resolve", f"{library} is not built yet in {folder}", "configure it there and run make first")
    files = " and ".join(f"{name}.so" for name in layout.names)
    if layout.static_alone:
        files += ", or " + " and ".join(f"{name}.a" for name in layout.names)
    folders = (*layout.built_libraries, *_LIBRARY_FOLDERS)
    places = ", ".join(part.format(triplet=this_architecture().triplet) for part in folders)
    if has_headers:
        return StepFailed(
            "resolve",
            f"{folder} has headers of {library}, but no library",
            f"it must contain {files}, in one of {places}",
        )
    if has_library:
        return StepFailed(
            "resolve", f"{folder} has {library}, but no headers", f"it must contain include/{layout.main_header}"
        )
    return StepFailed(
        "resolve",
        f"{folder} is neither a build tree nor an installation of {library}",
        f"it must contain include/{layout.main_header}, and {files} in one of {places}",
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
