"""The error that users see when a kit can't be made: what failed, why, and how to fix it."""

import errno
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from kexbench.domain.kits import SubjectRef
from kexbench.domain.runs import RunReason

Stage = Literal["resolve", "fetch", "compile", "collect", "self-test", "store"]
_STAGES_OF_SOURCES: tuple[Stage, ...] = ("compile", "collect", "self-test")
Lack = Literal["disk", "memory", "network"]
"""What the machine lacks."""
_OF_LACKS: dict[Lack | None, RunReason] = {
    "disk": RunReason.DISK_FULL,
    "memory": RunReason.TOO_LITTLE_MEMORY,
    "network": RunReason.SOURCES_UNAVAILABLE,
}


class KitError(Exception):
    """A kit can't be made or used. `log_path` is the kept log of the attempt, if there is one. `cut_short` means that
    the attempt was ended from outside."""

    def __init__(
        self,
        ref: SubjectRef | str,
        stage: Stage,
        reason: str,
        remedy: str = "",
        log_path: Path | None = None,
        cut_short: bool = False,
        lack: Lack | None = None,
    ) -> None:
        super().__init__(ref, stage, reason, remedy, log_path, cut_short, lack)
        self.ref = str(ref)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.log_path = log_path
        self.cut_short = cut_short
        self.lack = lack

    @classmethod
    def of(cls, ref: SubjectRef | str, failed: "StepFailed", log_path: Path | None = None) -> "KitError":
        """The error of a subject whose step failed."""
        return cls(ref, failed.stage, failed.reason, failed.remedy, log_path, failed.cut_short, failed.lack)

    @property
    def is_of_the_sources(self) -> bool:
        """Whether the same sources will probably fail again: the cause is neither a lack of network, disk or memory,
        nor a process that was ended from outside."""
        return self.stage in _STAGES_OF_SOURCES and self.lack is None and not self.cut_short

    @property
    def run_reason(self) -> RunReason:
        """Why a run that needs the kit fails."""
        if self.is_of_the_sources:
            return RunReason.UNBUILDABLE
        if self.lack in _OF_LACKS:
            return _OF_LACKS[self.lack]
        return RunReason.SOURCES_UNAVAILABLE if self.stage in ("resolve", "fetch") else RunReason.KITS_FAILED

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


def why_run_fails(error: Exception) -> tuple[RunReason | None, tuple[str, ...]]:
    """The reason of a run whose kits can't be made, and the references concerned. Sources that don't build come before
    failures that may pass when tried again. Other errors have no reason but their text."""
    errors = error.errors if isinstance(error, KitErrors) else (error,) if isinstance(error, KitError) else ()
    if not errors:
        return None, ()
    unbuilt = tuple(error.ref for error in errors if error.is_of_the_sources)
    return (RunReason.UNBUILDABLE, unbuilt) if unbuilt else (errors[0].run_reason, tuple(error.ref for error in errors))


def raise_all(errors: Sequence[KitError]) -> None:
    """Raises a single error as it is and several as KitErrors; returns if there are none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise KitErrors(errors)


class StepFailed(Exception):
    """A step of an attempt failed. The kit store adds the subject and the log and raises KitError."""

    def __init__(
        self, stage: Stage, reason: str, remedy: str = "", *, cut_short: bool = False, lack: Lack | None = None
    ) -> None:
        super().__init__(reason)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.cut_short = cut_short
        self.lack = lack


class ProgramFailed(StepFailed):
    """A program of a step ran and failed."""


def lack_of(error: OSError) -> Lack | None:
    return "disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else None


@dataclass(frozen=True)
class Likely:
    """The probable cause of a failed step."""

    reason: str
    remedy: str = ""
    lack: Lack | None = None


@dataclass(frozen=True)
class _Cause:
    pattern: re.Pattern[str]
    likely: Likely


def _cause(pattern: str, reason: str, remedy: str, lack: Lack | None = None) -> _Cause:
    return _Cause(re.compile(pattern), Likely(reason, remedy, lack))


_CAUSES = (
    _cause(r"No space left on device", "the disk is full", "free some space, then try again", "disk"),
    _cause(
        r"Killed signal terminated program|virtual memory exhausted|[Cc]annot allocate memory|Out of memory",
        "the machine has too little memory",
        "close other programs, or build on a machine with more memory",
        "memory",
    ),
    _cause(
        r"Temporary failure resolving|Could not resolve|Network is unreachable|Could not connect to|timed out",
        "the package archive can't be reached",
        "check the network and the mirror in this machine's apt sources",
        "network",
    ),
    _cause(
        r"The repository '\S+ (\S+) Release' does(?: not|n't) have a Release file",
        "the package archive has no suite {1}",
        "check the suite's name; some mirrors don't keep old suites",
    ),
    _cause(
        r"Failed to fetch \S+/dists/(\S+?)/\S+/source/Sources\S*  ?File not found",
        "the package archive has no suite {1}, or no sources for it",
        "check the suite's name; some mirrors don't keep sources",
    ),
    _cause(
        r"You must put some 'deb-src' URIs",
        "the package archive has no sources for this suite",
        "choose another suite; some mirrors don't keep sources",
    ),
    _cause(
        r"Failed to fetch \S+/dists/(\S+?)/\S+  ?File not found",
        "the package archive has no suite {1}",
        "check the suite's name; some mirrors don't keep old suites",
    ),
    _cause(
        r"NO_PUBKEY|is not signed|couldn't be verified|signatures were invalid",
        "the package archive's signature can't be verified",
        "update the package debian-archive-keyring",
    ),
    _cause(r"Unable to locate package (\S+)", "the suite has no package {1}", "choose another suite"),
    _cause(r"Unable to find a source package for (\S+)", "the suite has no source package {1}", "choose another suite"),
    _cause(
        r"have unmet dependencies:\s+(\S.*)",
        "the suite lacks a dependency: {1}",
        "choose the suite that the package was built for",
    ),
    _cause(r"Hash Sum mismatch", "the package archive changed during the download", "try again in a minute"),
    _cause(
        r"fatal error: (gmp\.h): No such file|__gmpz_\w+ not found|GNU MP not found",
        "the headers of GMP are missing",
        "install libgmp-dev (Debian) or gmp-devel (Fedora)",
    ),
    _cause(
        r"fatal error: std(?:io|lib|int|def|arg)\.h: No such|cannot find (?:Scrt1|crti)\.o",
        "the headers of the C library are missing",
        "install libc6-dev (Debian) or glibc-devel (Fedora)",
    ),
    _cause(r"fatal error: (\S+?): No such file or directory", "the header {1} is missing", ""),
    _cause(
        r"Can't locate (\S+?\.pm) in @INC", "perl lacks the module {1}", "install perl (Debian) or perl-core (Fedora)"
    ),
    _cause(r"rustup could not choose a version of cargo", "rustup has no toolchain", "run rustup default stable"),
    _cause(r"configure: error: (.*)", "configure says: {1}", ""),
    _cause(r"No rule to make target '([^']+)'", "the worker's sources have no rule to make {1}", "update the sources"),
    _cause(r"cannot find -l([^\s:]+)", "the linker can't find the library {1}", ""),
    _cause(r"version `(\S+)' not found", "the C library is older than {1}, which the worker needs", ""),
    _cause(r"undefined reference to [`'](\S+?)'", "the library lacks the function {1}", ""),
    _cause(r"(\S+:\d+:\d+: error: .*)", "the compiler says: {1}", ""),
    # Last, since configure scripts also report missing optional programs.
    _cause(
        r"(?m): ([\w.+-]+): (?:command )?not found$"
        r"|^make(?:\[\d+\])?: ([\w.+-]+): No such file or directory"
        r"|^(?:\S*/)?env: .?([\w.+-]+).?: No such file or directory",
        "the program {1} is missing",
        "install {1}",
    ),
)


def likely_cause(output: str) -> Likely | None:
    """The probable cause that a step's output shows, or None."""
    for cause in _CAUSES:
        if match := cause.pattern.search(output):
            name, likely = next(filter(None, match.groups()), ""), cause.likely
            return replace(likely, reason=likely.reason.replace("{1}", name), remedy=likely.remedy.replace("{1}", name))
    return None
