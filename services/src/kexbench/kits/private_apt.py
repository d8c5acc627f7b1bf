"""A private apt for one suite: its own sources, lists and cache. It installs nothing and needs no root.

An empty status file tells apt that no package is installed, so apt lists all dependencies of a package. This
machine's apt state is neither read nor locked, except for its network settings.
"""

import hashlib
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.kits import Package
from kexbench.kits.errors import Stage, StepFailed
from kexbench.kits.mirrors import Contents, Mirror
from kexbench.kits.process import Attempt
from kexbench.locks import locked

LISTS_MAX_AGE_S = 12 * 3600
_ABSENT_SUITE = re.compile(
    r"The repository '\S+ (\S+) Release' does(?: not|n't) have a Release file"
    r"|Failed to fetch \S+/dists/(\S+?)/\S+  ?File not found"
)


@dataclass(frozen=True)
class PrivateApt:
    """Queries to apt about one suite's `contents`. The folder `state` keeps the package lists."""

    suite: str
    contents: Contents
    mirror: Mirror
    state: Path
    lists_max_age_s: float
    architecture: str
    """Debian's name of it."""

    def refresh(self, attempt: Attempt, *, forced: bool) -> None:
        """Update the package lists if they are missing, too old, or `forced`.

        If the archive can't be reached, old lists are used unless `forced`.
        """
        with locked(self.state / "lock", attempt.note, attempt.go_on):
            stamp = self.state / "refreshed"
            source_lines = self.mirror.source_lines(self.suite, self.contents)
            is_kept = stamp.is_file() and stamp.read_text(encoding="utf-8") == "\n".join(source_lines.values())
            age_s = time.time() - stamp.stat().st_mtime if is_kept else 0.0
            if is_kept and not forced and age_s < self.lists_max_age_s:
                attempt.write(f"# package lists of {self.suite} are {age_s / 3600:.1f} h old\n")
                return
            self._check_tools()
            attempt.note(f"fetching the package lists of {self.suite}")
            older = f"package lists that are {age_s / 3600:.0f} h old"
            with attempt.or_older(older, serves=is_kept and not forced):
                self._update(source_lines, attempt)
                stamp.write_text("\n".join(source_lines.values()), encoding="utf-8")

    def run(
        self,
        attempt: Attempt,
        stage: Stage,
        *arguments: str,
        folder: Path | None = None,
        timeout_s: float = 60,
        accept: Sequence[int] = (0,),
    ) -> str:
        """The output of one of apt's tools. Raises StepFailed."""
        return attempt.run(
            arguments,
            stage=stage,
            timeout_s=timeout_s,
            folder=folder or self.state,  # apt passes over packages in the working directory
            environment={"APT_CONFIG": str(self.state / "apt.conf")},
            accept=accept,
        )

    def keep(self, folder: Path, places: Mapping[Package, Path]) -> None:
        """Check the SHA-256 of each package that apt downloaded to `folder`, and copy it to its place. Raises
        StepFailed."""
        downloads = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in folder.iterdir() if path.is_file()}
        for package, place in places.items():
            named = f"{package.name} {package.version}"
            if package.sha256 not in downloads:
                raise StepFailed(
                    "fetch",
                    f"{named} from {self.suite} does not have the SHA-256 {package.sha256}",
                    f"try again, since the archive may be changing, or save the right file as {place}",
                )
            place.parent.mkdir(parents=True, exist_ok=True)
            partial = place.with_suffix(f".{secrets.token_hex(4)}")  # the cache may be on another file system
            # A copy, since apt only links to the files of a mirror in a folder.
            shutil.copyfile(downloads[package.sha256], partial)
            partial.replace(place)

    def _check_tools(self) -> None:
        for tool in ("apt-get", "dpkg-deb"):
            if shutil.which(tool) is None:
                raise StepFailed(
                    "resolve",
                    f"{tool} is not installed",
                    "install apt and dpkg; most distributions have packages of both",
                )
        if self.mirror.keyring and not self.mirror.keyring.is_file():
            raise StepFailed(
                "resolve", f"the keyring {self.mirror.keyring} is missing", "apt-get install debian-archive-keyring"
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
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        (self.state / "var/lib/dpkg/status").write_text("")
        self._write_configuration(attempt)
        sources = self.state / "etc/apt/sources.list"
        # New suites have no updates suite and old ones no security suite. The suite itself must exist.
        for _ in lines:
            sources.write_text("\n".join(lines.values()) + "\n")
            try:
                self.run(attempt, "fetch", "apt-get", "update", "--error-on=any", timeout_s=300)
                return
            except StepFailed:
                absent = {match[1] or match[2] for match in _ABSENT_SUITE.finditer(attempt.last_output)}
                if self.suite in absent or not absent & set(lines):
                    raise
                attempt.note(f"the mirror has no {', '.join(sorted(absent))}")
                lines = {suite: line for suite, line in lines.items() if suite not in absent}

    def _write_configuration(self, attempt: Attempt) -> None:
        """Takes only the network settings (proxy, certificates) from this machine's apt."""
        # A proxy's address may contain a password. It must not reach the log, and only we may read the file.
        host = attempt.run(["apt-config", "dump"], stage="resolve", timeout_s=30, secret=True)
        reach = [
            line
            for line in host.splitlines()
            if line.startswith("Acquire::") and not re.match(r"Acquire::(?:IndexTargets|Languages)", line)
        ]
        own = [
            f'Dir "{self.state}/";',
            f'Dir::State::status "{self.state}/var/lib/dpkg/status";',
            'Dir::Cache::srcpkgcache "";',  # 40 MB a suite, little gain
            'Dir::Etc::netrc "/etc/apt/auth.conf";',
            'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";',
            f'APT::Architecture "{self.architecture}";',
            f'APT::Architectures {{ "{self.architecture}"; }};',
            'APT::Sandbox::User "root";',  # apt's default user can't write here
            'Acquire::Languages "none";',
            'Acquire::ForceHash "SHA256";',
        ]
        if self.suite in ("experimental", "rc-buggy"):
            own.append(f'APT::Default-Release "{self.suite}";')  # or apt prefers sid
        configuration = self.state / "apt.conf"
        configuration.touch(mode=0o600)
        configuration.write_text("\n".join([*reach, *own]) + "\n")
