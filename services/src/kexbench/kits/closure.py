"""Makes a kit self-contained: copies exactly the libraries that the dynamic loader lists for the worker.

`ld.so --list` is used instead of the files' headers, since it shows what really gets loaded: it includes indirect
dependencies and detects a C library that is too old.
"""

import re
import shutil
from pathlib import Path

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import THIS_MACHINE, Materials

_LIBC_FAMILY = re.compile(r"(?:ld(?:64|-linux.*)|lib(?:c|m|pthread|dl|rt|resolv|util|anl|mvec))\.so\.\d+")
_NEEDED = re.compile(r"^\s*(\S+) => (/\S.*?|\S+?) \(0x[0-9a-f]+\)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found|version `(\S+)' not found", re.MULTILINE)


def is_libc(soname: str) -> bool:
    """Whether a library is part of the C library, whose parts must all have the same version."""
    return _LIBC_FAMILY.fullmatch(soname) is not None


def needed(binary: Path, attempt: Attempt, materials: Materials = THIS_MACHINE) -> dict[str, Path]:
    """Every library that is loaded with `binary`, including the loader: soname -> file.

    For a foreign architecture, its own loader runs, and the cross compiler's C library replaces this machine's.

    Raises StepFailed if a library is missing, or would come from this machine although it must not.
    """
    target, libraries = attempt.target, materials.libraries
    on_host = libraries is None or materials.host_libc or materials.rest_from_host
    loader = target.loader if on_host or libraries is None else libraries / target.loader.name
    folders = [folder for folder in (libraries, target.libraries if on_host else None) if folder]
    search = ["--library-path", ":".join(map(str, folders))] if folders else []
    if (libraries and not materials.rest_from_host) or target.is_foreign:
        search.insert(0, "--inhibit-cache")
    listing = target.command([str(loader), *search, "--list", str(binary)])
    output = attempt.run(listing, stage="collect", timeout_s=30)
    if absent := _ABSENT.search(output):
        raise StepFailed("collect", f"the worker needs {absent[1] or absent[2]}, which is missing")
    # The loader lists itself under the path in the binary; for a library it doesn't list itself.
    files = {Path(name).name: Path(path) for name, path in _NEEDED.findall(output)}
    files[loader.name] = loader
    if libraries and not materials.rest_from_host:
        for soname, path in files.items():
            if not path.is_relative_to(libraries) and not (materials.host_libc and is_libc(soname)):
                raise StepFailed("collect", f"{soname} would come from this machine ({path}), not from the subject")
    return files


def collect(binary: Path, attempt: Attempt, materials: Materials, kit: Path) -> tuple[tuple[str, ...], dict[str, Path]]:
    """Copies worker and libraries to `bin/` and `lib/` of the folder `kit`, and checks that nothing else is loaded.

    Returns the worker's arguments, relative to the kit, and the original path of each library.
    """
    libraries = needed(binary, attempt, materials)
    (kit / "bin").mkdir()
    (kit / "lib").mkdir()
    shutil.copyfile(binary, kit / "bin/worker")
    for soname, path in libraries.items():
        shutil.copyfile(path, kit / "lib" / soname)
    for path in (*(kit / "bin").iterdir(), *(kit / "lib").iterdir()):
        path.chmod(0o555)
    worker = (f"lib/{attempt.target.loader.name}", "--inhibit-cache", "--library-path", "lib", "bin/worker")
    command = attempt.target.command([str(kit / worker[0]), *worker[1:4], "--list", worker[4]])
    listing = attempt.run(command, stage="collect", timeout_s=30, folder=kit)
    for soname, path in _NEEDED.findall(listing):
        if not (path.startswith("lib/") or Path(path).is_relative_to(kit)):
            raise StepFailed("collect", f"the kit is not self-contained: {soname} would be loaded from {path}")
    return worker, libraries
