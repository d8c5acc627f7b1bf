"""This machine's own libraries: `openssl@system`, `gnutls@system`, built against its development packages.

Versions come from the headers on the compiler's default path, so this works on any distribution;
package names and versions are added where dpkg knows them.
"""

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Package, SubjectRef
from kexbench.kits.closure import needed
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.provider import (
    THIS_MACHINE,
    Materials,
    Resolution,
    distribution_profile,
    file_hashes,
    native_only,
    no_flags,
)
from kexbench.kits.relink import relinked_profile, static_parts


@dataclass(frozen=True)
class _Installed:
    header: str
    version: re.Pattern[str]
    link_name: str
    debian_package: str
    fedora_package: str


_LIBRARIES = {
    "openssl": _Installed(
        "openssl/opensslv.h",
        re.compile(r'OPENSSL_VERSION_TEXT\s+"OpenSSL (\S+)'),
        "libssl.so",
        "libssl-dev",
        "openssl-devel",
    ),
    "gnutls": _Installed(
        "gnutls/gnutls.h", re.compile(r'GNUTLS_VERSION\s+"(\S+)"'), "libgnutls.so", "libgnutls28-dev", "gnutls-devel"
    ),
}


class SystemProvider:
    """What is installed here, with one compiler."""

    def __init__(self, compiler: str = "cc") -> None:
        self._compiler = compiler

    def describe(self) -> str:
        return "openssl@system, gnutls@system: what is installed on this machine"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in _LIBRARIES and ref.origin == "system"

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        return ()  # what is installed is not chosen here

    def resolve(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Resolution:
        native_only(ref, attempt)
        no_flags(ref, "name a source that is built, such as crate/3.5.5")
        version = self._header_version(ref, _LIBRARIES[ref.library], attempt)
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
        """Nothing to lay out but a relink's objects: compiler and loader find the libraries by themselves."""
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
        """The library and all it needs."""
        installed = _LIBRARIES[ref.library]
        link = Path(self._run_compiler(attempt, f"-print-file-name={installed.link_name}").strip())
        if not link.is_absolute():
            raise _absent(ref, installed, f"{installed.link_name} is not on the compiler's path")
        # The loader lists what the library needs, not the library.
        return {link.name: link.resolve(), **needed(link.resolve(), attempt)}

    def _header_version(self, ref: SubjectRef, installed: _Installed, attempt: Attempt) -> str:
        try:
            macros = self._run_compiler(attempt, "-E", "-dM", "-include", installed.header, "-x", "c", "/dev/null")
        except StepFailed as error:
            if installed.header in error.reason:
                raise _absent(ref, installed, f"the header {installed.header} is missing") from error
            raise
        match = installed.version.search(macros)
        if match is None:
            raise StepFailed("resolve", f"{installed.header} names no version")
        return match[1]

    def _run_compiler(self, attempt: Attempt, *arguments: str) -> str:
        return attempt.run([self._compiler, *arguments], stage="resolve", timeout_s=30)


def _absent(ref: SubjectRef, installed: _Installed, reason: str) -> StepFailed:
    return StepFailed(
        "resolve",
        f"no development files of {ref.library} on this machine: {reason}",
        f"apt-get install {installed.debian_package} (elsewhere: {installed.fedora_package}), "
        f"or use {ref.library}@debian/trixie, which installs nothing",
    )


def installed_packages(files: Iterable[Path], attempt: Attempt) -> dict[Path, Package]:
    """Which installed package owns each file; files that dpkg doesn't know are left out."""
    paths = {str(path): path for path in files}
    if not paths or shutil.which("dpkg-query") is None:
        return {}
    # Some packages still list /lib/… for what lies in /usr/lib/… since the two were merged.
    asked = {**{text.removeprefix("/usr"): path for text, path in paths.items()}, **paths}
    found = attempt.run(["dpkg-query", "--search", *asked], stage="resolve", timeout_s=30, accept=(0, 1))
    names: dict[Path, str] = {}
    for line in found.splitlines():
        owners, separator, text = line.rpartition(": ")
        if separator and text in asked and not line.startswith("diversion"):
            names[asked[text]] = owners.partition(",")[0]
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
