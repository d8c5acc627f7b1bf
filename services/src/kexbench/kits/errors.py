"""The one error a person sees when a kit can't be made: what failed, why, and what to do about it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kexbench.domain.kits import SubjectRef

Stage = Literal["resolve", "fetch", "compile", "collect", "self-test", "store"]
_STAGES_OF_SOURCES: tuple[Stage, ...] = ("compile", "collect", "self-test")
_DISK, _MEMORY = "the disk is full", "the machine has too little memory for it"
KILLED = "was killed, most likely for want of memory"


class KitError(Exception):
    """A kit can't be made or used. `log_path` is the kept log of the attempt, once there is one; `cut_short` says that
    somebody outside ended it."""

    def __init__(
        self,
        ref: SubjectRef | str,
        stage: Stage,
        reason: str,
        remedy: str = "",
        log_path: Path | None = None,
        cut_short: bool = False,
    ) -> None:
        super().__init__(ref, stage, reason, remedy, log_path, cut_short)
        self.ref = str(ref)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.log_path = log_path
        self.cut_short = cut_short

    @property
    def is_of_the_sources(self) -> bool:
        """Whether such sources fail again, as far as one can tell: not for want of network, disk or memory, and not
        because somebody outside ended a process."""
        lacks = any(want in self.reason for want in (_DISK, _MEMORY, KILLED))
        return self.stage in _STAGES_OF_SOURCES and not lacks and not self.cut_short

    def __str__(self) -> str:
        text = f"{self.ref}: {self.stage} failed: {self.reason}"
        if self.remedy:
            text += f"\n  remedy: {self.remedy}"
        if self.log_path:
            text += f"\n  log: {self.log_path}"
        return text


class KitErrors(Exception):
    """Several kits can't be made."""

    def __init__(self, errors: Sequence[KitError]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = tuple(errors)


def raise_all(errors: Sequence[KitError]) -> None:
    """Raises the error, or all of them as KitErrors, or nothing where there are none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise KitErrors(errors)


class StepFailed(Exception):
    """A step of an attempt failed; the shelf adds the subject and the log and raises KitError."""

    def __init__(self, stage: Stage, reason: str, remedy: str = "", *, cut_short: bool = False) -> None:
        super().__init__(reason)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.cut_short = cut_short


@dataclass(frozen=True)
class _Cause:
    pattern: re.Pattern[str]
    reason: str
    remedy: str


def _cause(pattern: str, reason: str, remedy: str) -> _Cause:
    return _Cause(re.compile(pattern), reason, remedy)


_CAUSES = (
    _cause(r"No space left on device", _DISK, "free some space, then try again"),
    _cause(
        r"Killed signal terminated program|virtual memory exhausted|[Cc]annot allocate memory|Out of memory",
        _MEMORY,
        "end other programs, or build where there is more memory",
    ),
    _cause(
        r"Temporary failure resolving|Could not resolve|Network is unreachable|Could not connect to|timed out",
        "the package archive can't be reached",
        "check the network, or the mirror in this machine's apt sources",
    ),
    _cause(
        r"The repository '\S+ (\S+) Release' does(?: not|n't) have a Release file",
        "the package archive has no suite {1}",
        "check the suite's name; old suites are not kept on every mirror",
    ),
    _cause(
        r"Failed to fetch \S+/dists/(\S+?)/\S+/source/Sources\S*  ?File not found",
        "the package archive has no suite {1}, or no sources of it",
        "check the suite's name; not every mirror keeps sources",
    ),
    _cause(
        r"You must put some 'deb-src' URIs",
        "the package archive has no sources of this suite",
        "name another suite; not every mirror keeps sources",
    ),
    _cause(
        r"Failed to fetch \S+/dists/(\S+?)/\S+  ?File not found",
        "the package archive has no suite {1}",
        "check the suite's name; old suites are not kept on every mirror",
    ),
    _cause(
        r"NO_PUBKEY|is not signed|couldn't be verified|signatures were invalid",
        "the package archive's signature can't be verified",
        "update the package debian-archive-keyring",
    ),
    _cause(r"Unable to locate package (\S+)", "the suite has no package {1}", "name another suite"),
    _cause(r"Unable to find a source package for (\S+)", "the suite has no source package {1}", "name another suite"),
    _cause(r"Hash Sum mismatch", "the package archive changed while it was read", "try again in a minute"),
    _cause(
        r"fatal error: (gmp\.h): No such file|__gmpz_\w+ not found|GNU MP not found",
        "the headers of GMP are missing",
        "install libgmp-dev (Debian) or gmp-devel (Fedora)",
    ),
    _cause(r"fatal error: (\S+?): No such file or directory", "the header {1} is missing", ""),
    _cause(
        r"Can't locate (\S+?\.pm) in @INC", "perl lacks its module {1}", "install perl (Debian) or perl-core (Fedora)"
    ),
    _cause(r"rustup could not choose a version of cargo", "rustup has no toolchain", "run rustup default stable"),
    _cause(r"configure: error: (.*)", "configure says: {1}", ""),
    _cause(
        r"No rule to make target '([^']+)'", "the worker's sources lack what {1} is made from", "update the sources"
    ),
    _cause(r"cannot find -l([^\s:]+)", "the library {1} can't be found for linking", ""),
    _cause(r"version `(\S+)' not found", "the C library is older than {1}, which the worker needs", ""),
    _cause(r"undefined reference to [`'](\S+?)'", "the library lacks the function {1}", ""),
    _cause(r"(\S+:\d+:\d+: error: .*)", "the compiler says: {1}", ""),
    # Last, since configure scripts pass over programs that they can do without.
    _cause(
        r"(?m): ([\w.+-]+): (?:command )?not found$"
        r"|^make(?:\[\d+\])?: ([\w.+-]+): No such file or directory"
        r"|^(?:\S*/)?env: .?([\w.+-]+).?: No such file or directory",
        "the program {1} is missing",
        "install {1}",
    ),
)


def likely_cause(output: str) -> tuple[str, str] | None:
    """The reason and the remedy that a step's output suggests, or None."""
    for cause in _CAUSES:
        if match := cause.pattern.search(output):
            found = next(filter(None, match.groups()), "")
            return cause.reason.replace("{1}", found), cause.remedy.replace("{1}", found)
    return None
