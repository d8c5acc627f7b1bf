"""A suite's binary packages: what one needs, and the files themselves, named by their content."""

import hashlib
import re
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from kexbench.domain.kits import Package
from kexbench.kits.errors import StepFailed
from kexbench.kits.mirrors import Mirror
from kexbench.kits.private_apt import LISTS_MAX_AGE_S, PrivateApt
from kexbench.kits.process import Attempt
from kexbench.kits.target import Target

_PRINTED = re.compile(
    r"^'\S+' (?P<file>(?P<name>[^_]+)_(?P<version>[^_]+)_[^_]+\.deb) \d+ (?:SHA256:(?P<sha256>\w+))?", re.MULTILINE
)
_APT_ERROR = 100


@dataclass(frozen=True)
class SuiteArchive:
    """One suite of a Debian mirror, seen through an apt of our own.

    `cache` lies outside any checkout: `apt/SUITE/` holds lists, for another architecture than this machine's
    `apt/SUITE+ARCHITECTURE/`; `debs/` packages named by their SHA-256.
    """

    suite: str
    target: Target
    mirror: Mirror
    cache: Path
    lists_max_age_s: float = LISTS_MAX_AGE_S

    @property
    def _apt(self) -> PrivateApt:
        machine = self.target.architecture.debian
        state = self.cache / "apt" / (f"{self.suite}+{machine}" if self.target.is_foreign else self.suite)
        return PrivateApt(self.suite, "deb", self.mirror, state, self.lists_max_age_s, machine)

    def package_file(self, package: Package) -> Path:
        """Where a downloaded package lies, whether it is there yet or not."""
        return self.cache / "debs" / f"{package.sha256}.deb"

    def refresh(self, attempt: Attempt, *, forced: bool) -> None:
        """Bring the package lists up to date. Raises StepFailed."""
        self._apt.refresh(attempt, forced=forced)

    def closure(self, package: str, attempt: Attempt) -> list[Package]:
        """The package and all it depends on, sorted by name, each with version and SHA-256."""
        printed = self._apt.run(
            attempt, "resolve", "apt-get", "install", "--print-uris", "-qq", "-y", "--no-install-recommends", package
        )
        return self._located(
            [match["name"] + "=" + unquote(match["version"]) for match in _PRINTED.finditer(printed)], attempt
        )

    def package(self, name: str, attempt: Attempt) -> Package:
        """The suite's version of one package, without what it depends on."""
        return self._located([name], attempt)[0]

    def exact(self, name: str, version: str, attempt: Attempt) -> Package | None:
        """A package at exactly this version, or None where the suite has none."""
        printed = self._apt.run(
            attempt, "resolve", "apt-get", "download", "--print-uris", f"{name}={version}", accept=(0, _APT_ERROR)
        )
        return next(iter(_packages(printed)), None)

    def dependencies(self, package: Package, attempt: Attempt) -> list[str]:
        """Names in the package's Depends field."""
        shown = self._apt.run(attempt, "resolve", "apt-cache", "show", f"{package.name}={package.version}")
        depends = re.search(r"^Depends: (.*)$", shown, re.MULTILINE)
        return [re.split(r"[\s:(|]", item.strip())[0] for item in depends[1].split(",")] if depends else []

    def download(self, packages: Iterable[Package], attempt: Attempt) -> None:
        """Fetch what the cache doesn't hold; every file's hash is compared with the signed lists'."""
        missing = [package for package in packages if not self.package_file(package).is_file()]
        if not missing:
            return
        attempt.note(f"downloading {len(missing)} packages of {self.suite}")
        folder = attempt.scratch / "download"
        folder.mkdir()
        names = [f"{package.name}={package.version}" for package in missing]
        self._apt.run(attempt, "fetch", "apt-get", "download", *names, folder=folder, timeout_s=900)
        arrived = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in folder.glob("*.deb")}
        (self.cache / "debs").mkdir(parents=True, exist_ok=True)
        for package in missing:
            if package.sha256 not in arrived:
                raise StepFailed(
                    "fetch",
                    f"{package.name} {package.version} arrived with other contents than the archive's lists promise",
                    "try again; the archive may be changing",
                )
            target = self.package_file(package)
            partial = target.with_suffix(f".{secrets.token_hex(4)}")  # the cache may be another file system
            shutil.move(arrived[package.sha256], partial)
            partial.replace(target)

    def _located(self, names: list[str], attempt: Attempt) -> list[Package]:
        printed = self._apt.run(attempt, "resolve", "apt-get", "download", "--print-uris", *names)
        packages = _packages(printed)
        if len(packages) != len(names) or any(package.sha256 is None for package in packages):
            raise StepFailed("resolve", f"the lists of {self.suite} name no SHA-256 for some of {', '.join(names)}")
        return sorted(packages, key=lambda package: package.name)


def _packages(printed: str) -> list[Package]:
    """What `apt-get --print-uris` named; a hash may be missing."""
    return [
        Package(name=match["name"], version=unquote(match["version"]), sha256=match["sha256"])
        for match in _PRINTED.finditer(printed)
    ]
