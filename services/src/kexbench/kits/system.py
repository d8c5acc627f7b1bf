"""This machine's installed libraries: `openssl@system`, `gnutls@system`.

Versions come from the headers on the compiler's default path, so this works on any distribution. On Debian and its
derivatives, dpkg adds package names and versions.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Package, SubjectRef
from kexbench.domain.libraries import LAYOUTS, PACKAGES, Layout
from kexbench.kits.closure import needed
from kexbench.kits.errors import ProgramFailed, StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import (
    THIS_MACHINE,
    Materials,
    Provider,
    Resolution,
    distribution_profile,
    file_hashes,
    native_only,
    no_flags,
)
from kexbench.kits.relink import relinked_profile, static_parts


class SystemProvider(Provider):
    """The installed libraries, as one compiler finds them."""

    def __init__(self, compiler: str = "cc") -> None:
        self._compiler = compiler

    def describe(self) -> str:
        return f"{', '.join(f'{name}@system' for name in LAYOUTS)}: the library installed on this machine"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in LAYOUTS and ref.origin == "system"

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        native_only(ref, attempt)
        no_flags(ref, "choose a source that is built here, such as crate/3.5.5")
        version = self._header_version(ref, LAYOUTS[ref.library], attempt)
        libraries = self._libraries(ref, attempt)
        files = {path.resolve() for path in libraries.values()}
        profile = distribution_profile("system", attempt.target.machine)
        if ref.variant.relink is not None:
            files |= set(static_parts(ref.library, libraries).archives)
            profile = relinked_profile(profile)
        owners = installed_packages(sorted(files), attempt)
        return Resolution(
            ref=ref,
            version=version,
            profile=profile,
            fingerprint=content_hash([version, file_hashes(files)], length=64),
            packages=tuple(sorted_packages(owners.values())),
        )

    def fetch(self, resolution: Resolution, attempt: Attempt) -> Materials:
        """Only a relink needs files, its objects. Otherwise compiler and loader find the libraries themselves."""
        ref = resolution.ref
        if ref.variant.relink is None:
            return THIS_MACHINE
        parts = static_parts(ref.library, self._libraries(ref, attempt))
        owners = installed_packages(parts.archives, attempt)
        return Materials(
            library_words=parts.shuffled(ref.variant.relink, attempt.scratch / "objects"),
            development=tuple(sorted_packages(owners.values())),
        )

    def _libraries(self, ref: SubjectRef, attempt: Attempt) -> dict[str, Path]:
        """The library and its dependencies."""
        name = f"{LAYOUTS[ref.library].names[0]}.so"
        link = Path(self._run_compiler(attempt, f"-print-file-name={name}").strip())
        if not link.is_absolute():
            raise _absent(ref, f"{name} is not on the compiler's path")
        # The loader lists only the dependencies.
        return {link.name: link.resolve(), **needed(link.resolve(), attempt)}

    def _header_version(self, ref: SubjectRef, layout: Layout, attempt: Attempt) -> str:
        try:
            macros = self._run_compiler(attempt, "-E", "-dM", "-include", layout.main_header, "-x", "c", "/dev/null")
        except ProgramFailed as error:
            if layout.main_header in attempt.last_output:
                raise _absent(ref, f"the header {layout.main_header} is missing") from error
            raise
        match = layout.version.search(macros)
        if match is None:
            raise StepFailed("resolve", f"{layout.main_header} contains no version")
        return match[1]

    def _run_compiler(self, attempt: Attempt, *arguments: str) -> str:
        return attempt.run([self._compiler, *arguments], stage="resolve", timeout_s=30)


def _absent(ref: SubjectRef, reason: str) -> StepFailed:
    packages = PACKAGES.get(ref.library)
    return StepFailed(
        "resolve",
        f"no development files of {ref.library} on this machine: {reason}",
        f"apt-get install {' '.join((packages.debian, *packages.debian_headers.values()))} "
        f"(elsewhere: {packages.fedora}), "
        f"or use {ref.library}@debian/trixie, which needs no installation"
        if packages
        else "",
    )


def installed_packages(files: Iterable[Path], attempt: Attempt) -> dict[Path, Package]:
    """The installed package of each file. Files that dpkg doesn't know are left out."""
    paths = {str(path): path for path in files}
    if not paths or shutil.which("dpkg-query") is None:
        return {}
    # Some packages still list files of /usr/lib under /lib, from before the two were merged.
    queried = {**{text.removeprefix("/usr"): path for text, path in paths.items()}, **paths}
    matches = attempt.run(["dpkg-query", "--search", *queried], stage="resolve", timeout_s=30, accept=(0, 1))
    names: dict[Path, str] = {}
    for line in matches.splitlines():
        owners, separator, text = line.rpartition(": ")
        if separator and text in queried and not line.startswith("diversion"):
            names[queried[text]] = owners.partition(",")[0]
    if not names:
        return {}
    shown = attempt.run(
        [
            "dpkg-query",
            "--show",
            "--showformat",
            r"${Package}:${Architecture} ${Package} ${Version}\n",
            *sorted(set(names.values())),
        ],
        stage="resolve",
        timeout_s=30,
    )
    packages: dict[str, Package] = {}
    for line in shown.splitlines():
        qualified, name, version = line.split(" ")
        packages[qualified] = packages[name] = Package(name=name, version=version, sha256=None)
    return {path: packages[name] for path, name in names.items() if name in packages}


def sorted_packages(packages: Iterable[Package]) -> list[Package]:
    """Each package once, by name."""
    return sorted(set(packages), key=lambda package: (package.name, package.version))
