"""A suite's source packages: upstream's own archive of each, as the suite's signed lists name it.

Debian's patches are not fetched. Archives are kept by their SHA-256, whichever suite they came from.
"""

import hashlib
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.kits import Package
from kexbench.domain.versions import upstream_version
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import Mirror
from kexbench.kits.private_apt import LISTS_MAX_AGE_S, PrivateApt
from kexbench.kits.process import Attempt
from kexbench.kits.target import this_architecture
from kexbench.kits.unbuilt import unpack

_PRINTED = re.compile(
    r"^'\S+' (?P<name>[^_\s]+)_(?P<version>[^_\s]+)\.orig\.tar\.\w+ \d+ (?:SHA256:(?P<sha256>\w+))?", re.MULTILINE
)


@dataclass(frozen=True)
class SourceArchive:
    """The source packages of one suite of a Debian mirror.

    `cache` lies outside any checkout: `apt-sources/SUITE/` holds lists, `sources/` archives named by their SHA-256.
    """

    suite: str
    mirror: Mirror
    cache: Path
    lists_max_age_s: float = LISTS_MAX_AGE_S

    @property
    def _apt(self) -> PrivateApt:
        state = self.cache / "apt-sources" / self.suite
        architecture = this_architecture().debian
        return PrivateApt(self.suite, "deb-src", self.mirror, state, self.lists_max_age_s, architecture)

    def refresh(self, attempt: Attempt, *, forced: bool) -> None:
        """Bring the package lists up to date. Raises StepFailed."""
        self._apt.refresh(attempt, forced=forced)

    def upstream(self, name: str, attempt: Attempt) -> Package:
        """The suite's newest version of a source package, its version and hash those of upstream's archive."""
        printed = self._get_source(attempt, name, "--print-uris", "-qq")
        found = [match for match in _PRINTED.finditer(printed) if match["name"] == name]
        if len(found) != 1 or found[0]["sha256"] is None:
            raise StepFailed("resolve", f"{self.suite} has no archive of upstream's with a SHA-256 for {name}")
        return Package(name=name, version=upstream_version(found[0]["version"]), sha256=found[0]["sha256"])

    def unpack(self, package: Package, folder: Path, attempt: Attempt) -> Path:
        """Lay the sources out inside `folder`, with the archive's times; returns their root. Raises StepFailed."""
        archive = self.cache / "sources" / str(package.sha256)
        if not archive.is_file():
            self._fetch(package, archive, attempt)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
            raise StepFailed("fetch", f"{archive} has other contents than its name, a SHA-256, promises", "delete it")
        root = unpack(archive, folder)
        if root == folder:
            raise StepFailed("fetch", f"the archive of {package.name} {package.version} holds more than one folder")
        return root

    def _fetch(self, package: Package, archive: Path, attempt: Attempt) -> None:
        self.refresh(attempt, forced=False)
        attempt.note(f"downloading the sources of {package.name} {package.version} from {self.suite}")
        folder = attempt.scratch / f"download-{package.name}"
        folder.mkdir()
        self._get_source(attempt, package.name, folder=folder)
        arrived = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in folder.iterdir() if path.is_file()}
        if package.sha256 not in arrived:
            raise StepFailed(
                "fetch",
                f"{self.suite} has other contents for {package.name} {package.version} than SHA-256 {package.sha256}",
                f"try again, since the archive may be changing; or put upstream's own archive there as {archive}",
            )
        archive.parent.mkdir(parents=True, exist_ok=True)
        partial = archive.with_suffix(f".{secrets.token_hex(4)}")
        shutil.copyfile(arrived[package.sha256], partial)  # not moved: of a mirror in a folder apt links to the file
        partial.replace(archive)

    def _get_source(self, attempt: Attempt, name: str, *more: str, folder: Path | None = None) -> str:
        arguments = ["apt-get", "source", "--download-only", "--tar-only", *more, name]
        return self._apt.run(attempt, "fetch" if folder else "resolve", *arguments, folder=folder, timeout_s=900)
