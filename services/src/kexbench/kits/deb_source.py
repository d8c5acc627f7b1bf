"""Upstream's sources from Debian's suites: `openssl@deb-source/trixie`, `gnutls@deb-source/trixie`.

Debian's patches are left out, since the subject is upstream's version. `openssl@debian/trixie` includes them. So a new
revision of the package alone changes nothing.
"""

import re
from pathlib import Path

from kexbench.domain.kits import SubjectRef
from kexbench.domain.libraries import PACKAGES, VERSION_FILES
from kexbench.kits.mirrors import Mirror, host_mirror
from kexbench.kits.process import Attempt
from kexbench.kits.source import Sources
from kexbench.kits.source_packages import SourceArchive

_SOURCE = re.compile(r"deb-source/([a-z][a-z-]*)")


class DebSourceOrigin:
    """The suites of one mirror, by default this machine's. Archives are kept in `cache`."""

    name = "deb-source"

    def __init__(self, cache: Path, mirror: Mirror | None = None) -> None:
        self._cache = cache
        self._mirror = mirror

    def describe(self) -> str:
        names = ", ".join(f"{library}@deb-source/SUITE" for library in PACKAGES if library in VERSION_FILES)
        return f"{names}: upstream's sources of a Debian suite's version, unpatched, built here"

    def provides(self, ref: SubjectRef) -> bool:
        return ref.library in PACKAGES and _SOURCE.fullmatch(ref.origin) is not None

    def versions(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> tuple[str, ...]:
        return (self.locate(ref, attempt, refresh=refresh).version,)

    def locate(self, ref: SubjectRef, attempt: Attempt, *, refresh: bool) -> Sources:
        match = _SOURCE.fullmatch(ref.origin)
        assert match, "the caller checks `provides` first"
        archive = SourceArchive(match[1], self._mirror or host_mirror(), self._cache)
        archive.refresh(attempt, forced=refresh)
        package = archive.upstream(PACKAGES[ref.library].debian_source, attempt)
        return Sources(
            version=package.version,
            identity=str(package.sha256),
            packages=(package,),
            unpack=lambda folder, within: archive.unpack(package, folder, within),
        )
