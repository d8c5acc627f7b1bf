"""The libraries of any Debian suite, unpacked but not installed: `openssl@debian/trixie`, `gnutls@debian/sid`.

The provider fetches the library, its dependencies, its headers, and OpenSSL's FIPS module if the suite has it:
8 to 16 packages. The worker is compiled with this machine's compiler and C headers, since only the library is the
subject.
"""

import os
import re
import shutil
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.libraries import PACKAGES, Packages
from kexbench.domain.versions import upstream_version, version_key
from kexbench.kits.apt import SuiteArchive
from kexbench.kits.closure import is_libc
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import Mirror, host_mirror
from kexbench.kits.process import Attempt
from kexbench.kits.provider import Materials, Resolution, distribution_profile, no_flags
from kexbench.kits.target import Architecture

_LOADER_VERSION = re.compile(r"version (\d+\.\d+)")
_SOURCE = re.compile(r"debian/([a-z][a-z-]*)")


class DebianProvider:
    """The suites of one mirror, by default this machine's. Downloads are kept in `cache`."""

    def __init__(self, cache: Path, mirror: Mirror | None = None) -> None:
        self._cache = cache
        self._mirror = mirror

    def describe(self) -> str:
        names = ", ".join(f"{name}@debian/SUITE" for name in PACKAGES)
        return f"{names}: the packages of a Debian suite, unpacked but not installed"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in PACKAGES and _SOURCE.fullmatch(ref.origin) is not None

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        archive = self._archive(ref, attempt)
        archive.refresh(attempt, forced=refresh)
        return (upstream_version(archive.package(PACKAGES[ref.library].debian, attempt).version),)

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        no_flags(ref, "choose a source that is built here, such as crate/3.5.5")
        if ref.variant.relink is not None:
            raise StepFailed(
                "resolve",
                "a suite's library can't be relinked",
                f"relink the installed library, {ref.library}@system+relink=1, or a build of your own",
            )
        archive = self._archive(ref, attempt)
        archive.refresh(attempt, forced=refresh)
        names = PACKAGES[ref.library]
        development, runtime = self._development_and_runtime(archive, names, attempt)
        headers = (archive.package(name, attempt) for name in names.debian_headers.values())
        packages = (development, *headers, *archive.closure([runtime.name], attempt))
        if names.debian_fips:
            # The module must have the library's version.
            fips = archive.exact(names.debian_fips, runtime.version, attempt)
            packages = (*packages, fips) if fips else packages
        return Resolution(
            ref=ref,
            version=upstream_version(development.version),
            profile=distribution_profile("debian", attempt.target.machine),
            fingerprint=content_hash(sorted(package.sha256 or "" for package in packages), length=64),
            packages=packages,
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        archive = self._archive(resolution.ref, attempt)
        archive.download(resolution.packages, attempt)
        root = attempt.scratch / "root"
        root.mkdir()
        owners: dict[str, Package] = {}
        names = PACKAGES[resolution.ref.library]
        # These are part of a kit, but no library that the worker loads comes from them.
        not_loaded = (names.debian, names.debian_fips, *names.debian_headers.values())
        for package in resolution.packages:
            unpacked = attempt.run(
                ["dpkg-deb", "--vextract", str(archive.package_file(package)), str(root)], stage="fetch", timeout_s=120
            )
            owners |= {Path(name).name: package for name in unpacked.splitlines() if ".so" in name}
        host_libc = _libc_is_older_than_ours(resolution.packages, attempt)
        if host_libc:
            attempt.note(f"using this machine's C library: the one of {resolution.ref.source} is older")
        include = attempt.scratch / "include"
        libraries = attempt.scratch / "libraries"
        architecture = attempt.target.architecture
        for folder in sorted({resolution.ref.library, *names.debian_headers}):
            _copy_headers(root, folder, architecture, include)
        _link_libraries(root, architecture, libraries, without_libc=host_libc)
        return Materials(
            compile_flags=(f"-I{include}",),
            # The suite's libraries may need a newer C library than this machine's.
            link_flags=(f"-L{libraries}", "-Wl,--allow-shlib-undefined", f"-Wl,-rpath-link,{libraries}"),
            libraries=libraries,
            host_libc=host_libc,
            owners=owners,
            development=tuple(package for package in resolution.packages if package.name in not_loaded),
            fips_module=next(iter(root.glob("usr/lib/*/ossl-modules/fips.so")), None),
        )

    def _development_and_runtime(
        self, archive: SuiteArchive, names: Packages, attempt: Attempt
    ) -> tuple[Package, Package]:
        """The development package, and the package of the library itself, which the first one needs."""
        development = archive.package(names.debian, attempt)
        runtime = [name for name in archive.dependencies(development, attempt) if names.debian_runtime.match(name)]
        if len(runtime) != 1:
            raise StepFailed("resolve", f"{development.name} needs {len(runtime)} runtime libraries, not 1")
        return development, archive.package(runtime[0], attempt)

    def _archive(self, ref: SubjectRef, attempt: Attempt) -> SuiteArchive:
        match = _SOURCE.fullmatch(ref.origin)
        assert match, "the caller checks `provides` first"
        return SuiteArchive(match[1], attempt.target, self._mirror or host_mirror(), self._cache)


def _libc_is_older_than_ours(packages: tuple[Package, ...], attempt: Attempt) -> bool:
    """A worker compiled here may not run with an older C library; a newer one runs older programs."""
    ours = (os.confstr("CS_GNU_LIBC_VERSION") or "glibc 0").partition(" ")[2]
    target = attempt.target
    if target.is_foreign:
        command = target.command([str(target.loader), "--version"])
        version = _LOADER_VERSION.search(attempt.run(command, stage="fetch", timeout_s=30))
        ours = version[1] if version else "0"
    theirs = [upstream_version(package.version) for package in packages if package.name == "libc6"]
    return not theirs or version_key(theirs[0]) < version_key(ours)


def _copy_headers(root: Path, folder: str, architecture: Architecture, include: Path) -> None:
    """Copy a library's headers and no others: the suite's C headers don't fit this machine's compiler and libc."""
    places = (root / "usr/include" / folder, root / "usr/include" / architecture.triplet / folder)
    for place in filter(Path.is_dir, places):
        shutil.copytree(place, include / folder, dirs_exist_ok=True)
    if not (include / folder).is_dir():
        raise StepFailed("fetch", f"the packages contain no headers {folder}/")


def _link_libraries(root: Path, architecture: Architecture, libraries: Path, *, without_libc: bool) -> None:
    """Make one flat folder with a link to every shared library of the suite."""
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
    """The target of a link, with `root` as the root of the file system; None if it is no file inside."""
    for _ in range(40):
        if not path.is_symlink():
            break
        target = path.readlink()
        path = root / target.relative_to("/") if target.is_absolute() else path.parent / target
    resolved = path.resolve()
    return resolved if resolved.is_file() and resolved.is_relative_to(root.resolve()) else None
