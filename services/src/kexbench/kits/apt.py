"""A private apt for one suite: its own sources, lists and cache, nothing installed, no root needed.

apt is told that no package is installed (an empty status file), so it answers with everything that
a package needs. This machine's own apt state is never read or locked, except for how to reach the network.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from kexbench.domain.kits import Package
from kexbench.kits.errors import Stage, StepFailed
from kexbench.kits.locks import locked
from kexbench.kits.mirrors import Mirror
from kexbench.kits.process import Attempt
from kexbench.kits.target import Target

_PRINTED = re.compile(
    r"^'\S+' (?P<file>(?P<name>[^_]+)_(?P<version>[^_]+)_[^_]+\.deb) \d+ (?:SHA256:(?P<sha256>\w+))?", re.MULTILINE
)
_APT_ERROR = 100
_ABSENT_SUITE = re.compile(
    r"The repository '\S+ (\S+) Release' does(?: not|n't) have a Release file"
    r"|Failed to fetch \S+/dists/(\S+?)/\S+  ?File not found"
)


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
    lists_max_age_s: float
    clock: Callable[[], float] = time.time

    @property
    def _state(self) -> Path:
        debian = self.target.architecture.debian
        return self.cache / "apt" / (f"{self.suite}+{debian}" if self.target.is_foreign else self.suite)

    def package_file(self, package: Package) -> Path:
        """Where a downloaded package lies, whether it is there yet or not."""
        return self.cache / "debs" / f"{package.sha256}.deb"

    def refresh(self, attempt: Attempt, *, forced: bool) -> None:
        """Bring the package lists up to date: when they are too old, never fetched, or `forced`.

        Old lists serve when the archive can't be reached and nobody insisted on new ones.
        """
        with locked(self._state / "lock", attempt.note):
            stamp = self._state / "refreshed"
            wanted = self.mirror.source_lines(self.suite)
            known = stamp.is_file() and stamp.read_text(encoding="utf-8") == "\n".join(wanted.values())
            age_s = self.clock() - stamp.stat().st_mtime if known else 0.0
            if known and not forced and age_s < self.lists_max_age_s:
                attempt.write(f"# package lists of {self.suite} are {age_s / 3600:.1f} h old\n")
                return
            self._check_tools()
            attempt.note(f"reading the package lists of {self.suite}")
            try:
                self._update(wanted, attempt)
            except StepFailed as error:
                if not known or forced:
                    raise
                attempt.note(f"using package lists that are {age_s / 3600:.0f} h old: {error.reason}")
                return
            stamp.write_text("\n".join(wanted.values()), encoding="utf-8")
            os.utime(stamp, (self.clock(), self.clock()))

    def closure(self, package: str, attempt: Attempt) -> list[Package]:
        """The package and all it depends on, sorted by name, each with version and SHA-256."""
        printed = self._apt(
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
        printed = self._apt(
            attempt, "resolve", "apt-get", "download", "--print-uris", f"{name}={version}", accept=(0, _APT_ERROR)
        )
        return next(iter(_packages(printed)), None)

    def dependencies(self, package: Package, attempt: Attempt) -> list[str]:
        """Names in the package's Depends field."""
        shown = self._apt(attempt, "resolve", "apt-cache", "show", f"{package.name}={package.version}")
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
        self._apt(attempt, "fetch", "apt-get", "download", *names, folder=folder, timeout_s=900)
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
            partial = target.with_suffix(f".{os.getpid()}")  # the cache may be another file system
            shutil.move(arrived[package.sha256], partial)
            partial.replace(target)

    def _located(self, names: list[str], attempt: Attempt) -> list[Package]:
        printed = self._apt(attempt, "resolve", "apt-get", "download", "--print-uris", *names)
        packages = _packages(printed)
        if len(packages) != len(names) or any(package.sha256 is None for package in packages):
            raise StepFailed("resolve", f"the lists of {self.suite} name no SHA-256 for some of {', '.join(names)}")
        return sorted(packages, key=lambda package: package.name)

    def _check_tools(self) -> None:
        for tool in ("apt-get", "dpkg-deb"):
            if shutil.which(tool) is None:
                raise StepFailed(
                    "resolve",
                    f"{tool} is not on this machine",
                    "install apt and dpkg, which other distributions package too",
                )
        if self.mirror.keyring and not self.mirror.keyring.is_file():
            raise StepFailed(
                "resolve", f"Debian's keys are not at {self.mirror.keyring}", "apt-get install debian-archive-keyring"
            )

    def _update(self, lines: dict[str, str], attempt: Attempt) -> None:
        for folder in (
            "etc/apt/apt.conf.d",
            "etc/apt/sources.list.d",
            "etc/apt/preferences.d",
            "etc/apt/trusted.gpg.d",
            "var/lib/apt/lists/partial",
            "var/cache/apt/archives/partial",
            "var/lib/dpkg",
        ):
            (self._state / folder).mkdir(parents=True, exist_ok=True)
        (self._state / "var/lib/dpkg/status").write_text("")
        self._write_configuration(attempt)
        sources = self._state / "etc/apt/sources.list"
        # Suites come without updates (young ones) or security (old ones); the suite itself must be there.
        for _ in lines:
            sources.write_text("\n".join(lines.values()) + "\n")
            try:
                self._apt(attempt, "fetch", "apt-get", "update", "--error-on=any", timeout_s=300)
                return
            except StepFailed:
                absent = {match[1] or match[2] for match in _ABSENT_SUITE.finditer(attempt.last_output)}
                if self.suite in absent or not absent & set(lines):
                    raise
                attempt.note(f"the mirror has no {', '.join(sorted(absent))}")
                lines = {suite: line for suite, line in lines.items() if suite not in absent}

    def _write_configuration(self, attempt: Attempt) -> None:
        """Like this machine's apt in how the network is reached (proxy, certificates), in nothing else."""
        # A proxy's address may hold a password: not for the log, and the file is for us alone.
        host = attempt.run(["apt-config", "dump"], stage="resolve", timeout_s=30, secret=True)
        reach = [
            line
            for line in host.splitlines()
            if line.startswith("Acquire::") and not re.match(r"Acquire::(?:IndexTargets|Languages)", line)
        ]
        own = [
            f'Dir "{self._state}/";',
            f'Dir::State::status "{self._state}/var/lib/dpkg/status";',
            'Dir::Cache::srcpkgcache "";',  # 40 MB a suite that save little
            'Dir::Etc::netrc "/etc/apt/auth.conf";',
            'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";',
            f'APT::Architecture "{self.target.architecture.debian}";',
            f'APT::Architectures {{ "{self.target.architecture.debian}"; }};',
            'APT::Sandbox::User "root";',  # root would else hand over to a user who can't write here
            'Acquire::Languages "none";',
            'Acquire::ForceHash "SHA256";',
        ]
        if self.suite in ("experimental", "rc-buggy"):
            own.append(f'APT::Default-Release "{self.suite}";')  # else its packages give way to sid's
        configuration = self._state / "apt.conf"
        configuration.touch(mode=0o600)
        configuration.write_text("\n".join([*reach, *own]) + "\n")

    def _apt(
        self,
        attempt: Attempt,
        stage: Stage,
        *arguments: str,
        folder: Path | None = None,
        timeout_s: float = 60,
        accept: Sequence[int] = (0,),
    ) -> str:
        return attempt.run(
            arguments,
            stage=stage,
            timeout_s=timeout_s,
            folder=folder,
            environment={"APT_CONFIG": str(self._state / "apt.conf")},
            accept=accept,
        )


def _packages(printed: str) -> list[Package]:
    """What `apt-get --print-uris` named; a hash may be missing."""
    return [
        Package(name=match["name"], version=unquote(match["version"]), sha256=match["sha256"])
        for match in _PRINTED.finditer(printed)
    ]
