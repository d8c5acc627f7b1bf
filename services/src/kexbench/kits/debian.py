"""Any Debian suite's libraries, unpacked and never installed: `openssl@debian/trixie`, `gnutls@debian/sid`.

Only the library, what it depends on, its headers, and OpenSSL's FIPS module where the suite has it are
fetched: 8 to 16 packages. The worker is compiled with this machine's compiler and C headers, since only
the library is the subject.
"""

import os
import re
import shutil
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.libraries import PACKAGES
from kexbench.domain.versions import upstream_version, version_key
from kexbench.kits.apt import SuiteArchive
from kexbench.kits.closure import is_libc
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import Mirror, host_mirror
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Resolution, distribution_profile, no_flags
from kexbench.kits.target import Architecture, Target

_LOADER_VERSION = re.compile(r"version (\d+\.\d+)")
_SOURCE = re.compile(r"debian/([a-z][a-z-]*)")


class DebianProvider:
    """Suites of one mirror; by default the mirror this machine uses. Downloads are kept in `cache`."""

    def __init__(self, cache: Path, mirror: Mirror | None = None) -> None:
        self._cache = cache
        self._mirror = mirror

    def describe(self) -> str:
        names = ", ".join(f"{name}@debian/SUITE" for name in PACKAGES)
        return f"{names}: the packages of a Debian suite, unpacked, never installed"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in PACKAGES and _SOURCE.fullmatch(ref.origin) is not None

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        archive = self._archive(ref, attempt.target)
        archive.refresh(attempt, forced=refresh)
        return (upstream_version(archive.package(PACKAGES[ref.library].debian, attempt).version),)

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        no_flags(ref, "name a source that is built, such as crate/3.5.5")
        if ref.variant.relink is not None:
            raise StepFailed(
                "resolve",
                "a suite's library can't be relinked",
                f"relink what is installed, {ref.library}@system+relink=1, or a build of your own",
            )
        archive = self._archive(ref, attempt.target)
        archive.refresh(attempt, forced=refresh)
        names = PACKAGES[ref.library]
        development = archive.package(names.debian, attempt)
        runtime = [name for name in archive.dependencies(development, attempt) if names.debian_runtime.match(name)]
        if len(runtime) != 1:
            raise StepFailed("resolve", f"{development.name} needs {len(runtime)} runtime libraries, not 1")
        packages = (development, *archive.closure(runtime[0], attempt))
        if names.debian_fips:
            version = next(package.version for package in packages if package.name == runtime[0])
            # Of another version it would be another library's.
            fips = archive.exact(names.debian_fips, version, attempt)
            packages = (*packages, fips) if fips else packages
        return Resolution(
            ref=ref,
            version=upstream_version(development.version),
            profile=distribution_profile("debian", attempt.target.machine),
            fingerprint=content_hash(sorted(package.sha256 or "" for package in packages), length=64),
            packages=packages,
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        archive = self._archive(resolution.ref, attempt.target)
        archive.download(resolution.packages, attempt)
        root = attempt.scratch / "root"
        root.mkdir()
        owners: dict[str, Package] = {}
        names = PACKAGES[resolution.ref.library]
        # A kit is made of these although no library that the worker is linked to comes from them.
        not_loaded = (names.debian, names.debian_fips)
        for package in resolution.packages:
            unpacked = attempt.run(
                ["dpkg-deb", "--vextract", str(archive.package_file(package)), str(root)], stage="fetch", timeout_s=120
            )
            owners |= {Path(name).name: package for name in unpacked.splitlines() if ".so" in name}
        host_libc = _libc_is_older_than_ours(resolution.packages, attempt)
        if host_libc:
            attempt.note(f"{resolution.ref.source} has an older C library than this machine, whose own is used")
        include = attempt.scratch / "include"
        libraries = attempt.scratch / "libraries"
        architecture = attempt.target.architecture
        _copy_headers(root, resolution.ref.library, architecture, include)
        _link_libraries(root, architecture, libraries, without_libc=host_libc)
        return Materials(
            compile_flags=(f"-I{include}",),
            # The suite's libraries may need a newer C library than the one they are linked beside.
            link_flags=(f"-L{libraries}", "-Wl,--allow-shlib-undefined", f"-Wl,-rpath-link,{libraries}"),
            libraries=libraries,
            host_libc=host_libc,
            owners=owners,
            development=tuple(package for package in resolution.packages if package.name in not_loaded),
            fips_module=next(iter(root.glob("usr/lib/*/ossl-modules/fips.so")), None),
        )

    def _archive(self, ref: SubjectRef, target: Target) -> SuiteArchive:
        match = _SOURCE.fullmatch(ref.origin)
        assert match, "the shelf asks `provides` first"
        return SuiteArchive(match[1], target, self._mirror or host_mirror(), self._cache)


def _libc_is_older_than_ours(packages: tuple[Package, ...], attempt: Attempt) -> bool:
    """A worker compiled here may need what an older C library lacks; a newer one runs older programs."""
    ours = (os.confstr("CS_GNU_LIBC_VERSION") or "glibc 0").partition(" ")[2]
    target = attempt.target
    if target.is_foreign:
        asked = target.command([str(target.loader), "--version"])
        said = _LOADER_VERSION.search(attempt.run(asked, stage="fetch", timeout_s=30))
        ours = said[1] if said else "0"
    theirs = [upstream_version(package.version) for package in packages if package.name == "libc6"]
    return not theirs or version_key(theirs[0]) < version_key(ours)


def _copy_headers(root: Path, folder: str, architecture: Architecture, include: Path) -> None:
    """The library's own headers alone: the suite's C headers don't fit this machine's compiler and libc."""
    places = (root / "usr/include" / folder, root / "usr/include" / architecture.triplet / folder)
    for place in filter(Path.is_dir, places):
        shutil.copytree(place, include / folder, dirs_exist_ok=True)
    if not (include / folder).is_dir():
        raise StepFailed("fetch", f"the packages hold no headers {folder}/")


def _link_libraries(root: Path, architecture: Architecture, libraries: Path, *, without_libc: bool) -> None:
    """One flat folder with a link for every shared library, whichever folder of the suite it lies in."""
    libraries.mkdir()
    triplet = architecture.triplet
    folders = [root / part for part in (f"lib/{triplet}", f"usr/lib/{triplet}", "lib", "usr/lib", "lib64", "usr/lib64")]
    for path in (path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.so*"))):
        target = _inside(root, path)
        link = libraries / path.name
        if target is None or link.is_symlink() or (without_libc and is_libc(path.name)):
            continue
        link.symlink_to(target)


def _inside(root: Path, path: Path) -> Path | None:
    """The file a link leads to, when it is read as if `root` were the root of the file system."""
    for _ in range(40):
        if not path.is_symlink():
            break
        target = path.readlink()
        path = root / target.relative_to("/") if target.is_absolute() else path.parent / target
    resolved = path.resolve()
    return resolved if resolved.is_file() and resolved.is_relative_to(root.resolve()) else None
