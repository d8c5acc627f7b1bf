"""Makes a kit self-contained: asks the dynamic loader what the worker needs and copies just that.

The loader itself is asked (`ld.so --list`), not the files' headers, since only its answer is what
will happen: it includes libraries of libraries, and it notices a C library that is too old.
"""

import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import THIS_MACHINE, Materials


@dataclass(frozen=True)
class Architecture:
    """The names one processor architecture has at Debian, and where its dynamic loader is."""

    debian: str
    triplet: str
    loader: Path


ARCHITECTURES = {
    "x86_64": Architecture("amd64", "x86_64-linux-gnu", Path("/lib64/ld-linux-x86-64.so.2")),
    "aarch64": Architecture("arm64", "aarch64-linux-gnu", Path("/lib/ld-linux-aarch64.so.1")),
    "riscv64": Architecture("riscv64", "riscv64-linux-gnu", Path("/lib/ld-linux-riscv64-lp64d.so.1")),
    "ppc64le": Architecture("ppc64el", "powerpc64le-linux-gnu", Path("/lib64/ld64.so.2")),
    "s390x": Architecture("s390x", "s390x-linux-gnu", Path("/lib/ld64.so.1")),
}

_LIBC_FAMILY = re.compile(r"(?:ld(?:64|-linux.*)|lib(?:c|m|pthread|dl|rt|resolv|util|anl|mvec))\.so\.\d+")
_NEEDED = re.compile(r"^\s*(\S+) => (/\S.*?|\S+?) \(0x[0-9a-f]+\)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found|version `(\S+)' not found", re.MULTILINE)


def this_architecture() -> Architecture:
    """Raises StepFailed on a machine that kits can't be made for yet."""
    try:
        return ARCHITECTURES[platform.machine()]
    except KeyError:
        raise StepFailed(
            "resolve", f"kits can't be made on {platform.machine()} yet", f"known are {', '.join(ARCHITECTURES)}"
        ) from None


def is_libc(soname: str) -> bool:
    """Whether a library belongs to the C library, whose parts must all be of one version."""
    return _LIBC_FAMILY.fullmatch(soname) is not None


def needed(binary: Path, attempt: Attempt, materials: Materials = THIS_MACHINE) -> dict[str, Path]:
    """Every library that would be loaded with `binary`, the loader included: soname -> file.

    Raises StepFailed when one is absent, or would come from this machine although it must not.
    """
    host_loader = this_architecture().loader
    libraries = materials.libraries
    on_host = materials.host_libc or materials.rest_from_host
    loader = host_loader if libraries is None or on_host else libraries / host_loader.name
    search = ["--library-path", str(libraries)] if libraries else []
    if not materials.rest_from_host and libraries:
        search.insert(0, "--inhibit-cache")
    output = attempt.run([str(loader), *search, "--list", str(binary)], stage="collect", timeout_s=30)
    if absent := _ABSENT.search(output):
        raise StepFailed("collect", f"{absent[1] or absent[2]} can't be found for the worker")
    # The loader lists itself under the path the binary names it by, or not at all for a library.
    found = {Path(name).name: Path(path) for name, path in _NEEDED.findall(output)}
    found[loader.name] = loader
    if libraries and not materials.rest_from_host:
        for soname, path in found.items():
            if not path.is_relative_to(libraries) and not (materials.host_libc and is_libc(soname)):
                raise StepFailed("collect", f"{soname} would come from this machine ({path}), not from the subject")
    return found


def collect(binary: Path, attempt: Attempt, materials: Materials, kit: Path) -> tuple[tuple[str, ...], dict[str, Path]]:
    """Copies worker and libraries to `bin/` and `lib/` of the folder `kit`, and proves that they suffice.

    Returns the worker's arguments, relative to the kit, and where each library came from.
    """
    libraries = needed(binary, attempt, materials)
    (kit / "bin").mkdir()
    (kit / "lib").mkdir()
    shutil.copyfile(binary, kit / "bin/worker")
    for soname, path in libraries.items():
        shutil.copyfile(path, kit / "lib" / soname)
    for path in (*(kit / "bin").iterdir(), *(kit / "lib").iterdir()):
        path.chmod(0o555)
    worker = (f"lib/{this_architecture().loader.name}", "--inhibit-cache", "--library-path", "lib", "bin/worker")
    listing = attempt.run(
        [str(kit / worker[0]), *worker[1:4], "--list", worker[4]], stage="collect", timeout_s=30, folder=kit
    )
    for soname, path in _NEEDED.findall(listing):
        if not (path.startswith("lib/") or Path(path).is_relative_to(kit)):
            raise StepFailed("collect", f"the kit is not self-contained: {soname} would be loaded from {path}")
    return worker, libraries
