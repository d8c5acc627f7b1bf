"""A private apt for one suite: its own sources, lists and cache, nothing installed, no root needed.

apt is told that no package is installed (an empty status file), so it answers with everything that
a package needs. This machine's own apt state is never read or locked, except for how to reach the network.
"""

import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kexbench.kits.errors import Stage, StepFailed
from kexbench.kits.locks import locked
from kexbench.kits.mirrors import Contents, Mirror
from kexbench.kits.process import Attempt

LISTS_MAX_AGE_S = 12 * 3600
_ABSENT_SUITE = re.compile(
    r"The repository '\S+ (\S+) Release' does(?: not|n't) have a Release file"
    r"|Failed to fetch \S+/dists/(\S+?)/\S+  ?File not found"
)


@dataclass(frozen=True)
class PrivateApt:
    """The lists of one suite's `contents`, kept in the folder `state`, and apt's answers from them."""

    suite: str
    contents: Contents
    mirror: Mirror
    state: Path
    lists_max_age_s: float
    architecture: str
    """As Debian names it."""

    def refresh(self, attempt: Attempt, *, forced: bool) -> None:
        """Bring the package lists up to date: when they are too old, never fetched, or `forced`.

        Old lists serve when the archive can't be reached and nobody insisted on new ones.
        """
        with locked(self.state / "lock", attempt.note, attempt.go_on):
            stamp = self.state / "refreshed"
            wanted = self.mirror.source_lines(self.suite, self.contents)
            known = stamp.is_file() and stamp.read_text(encoding="utf-8") == "\n".join(wanted.values())
            age_s = time.time() - stamp.stat().st_mtime if known else 0.0
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
            folder=folder,
            environment={"APT_CONFIG": str(self.state / "apt.conf")},
            accept=accept,
        )

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
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        (self.state / "var/lib/dpkg/status").write_text("")
        self._write_configuration(attempt)
        sources = self.state / "etc/apt/sources.list"
        # Suites come without updates (young ones) or security (old ones); the suite itself must be there.
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
        """Like this machine's apt in how the network is reached (proxy, certificates), in nothing else."""
        # A proxy's address may hold a password: not for the log, and the file is for us alone.
        host = attempt.run(["apt-config", "dump"], stage="resolve", timeout_s=30, secret=True)
        reach = [
            line
            for line in host.splitlines()
            if line.startswith("Acquire::") and not re.match(r"Acquire::(?:IndexTargets|Languages)", line)
        ]
        own = [
            f'Dir "{self.state}/";',
            f'Dir::State::status "{self.state}/var/lib/dpkg/status";',
            'Dir::Cache::srcpkgcache "";',  # 40 MB a suite that save little
            'Dir::Etc::netrc "/etc/apt/auth.conf";',
            'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";',
            f'APT::Architecture "{self.architecture}";',
            f'APT::Architectures {{ "{self.architecture}"; }};',
            'APT::Sandbox::User "root";',  # root would else hand over to a user who can't write here
            'Acquire::Languages "none";',
            'Acquire::ForceHash "SHA256";',
        ]
        if self.suite in ("experimental", "rc-buggy"):
            own.append(f'APT::Default-Release "{self.suite}";')  # else its packages give way to sid's
        configuration = self.state / "apt.conf"
        configuration.touch(mode=0o600)
        configuration.write_text("\n".join([*reach, *own]) + "\n")
