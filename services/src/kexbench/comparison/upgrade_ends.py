"""The two ends of an upgrade: which subjects are neighbours, and what they are called."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from kexbench.comparison.order import version_order
from kexbench.domain.kits import Library
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.library_commits import version_text
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.store.port import MeasuredSubjectRow, SubjectRow


@dataclass(frozen=True)
class Neighbours:
    before: SubjectRow
    after: SubjectRow
    cells: int
    """Cases, on each host kind, that both have numbers of."""
    measured_at: datetime
    """When `after` was measured last."""

    @property
    def library(self) -> Library:
        return cast(Library, self.after.library)

    @property
    def ends(self) -> tuple[UpgradeEnd, UpgradeEnd]:
        return (end_of(self.before), end_of(self.after))


@dataclass(frozen=True)
class _Measured:
    """A subject with all that it has numbers of."""

    subject: SubjectRow
    cells: frozenset[tuple[str, str, str]]
    measured_at: datetime


def neighbours(rows: Iterable[MeasuredSubjectRow]) -> list[Neighbours]:
    """Each subject with the version before it that has a cell in common with it, of the same build profile if there
    is one. Those that were measured last first, of those of one moment the newest version."""
    found = []
    for own in _by_library(rows).values():
        for position, after in enumerate(own):
            if before := _before(own[:position], after):
                shared = len(before.cells & after.cells)
                found.append(Neighbours(before.subject, after.subject, shared, after.measured_at))
    found.sort(key=lambda one: (one.measured_at, version_order(one.after)), reverse=True)
    return found


def _by_library(rows: Iterable[MeasuredSubjectRow]) -> dict[str, list[_Measured]]:
    """Oldest version first."""
    by_name: dict[str, list[MeasuredSubjectRow]] = defaultdict(list)
    for row in rows:
        by_name[row.subject.name].append(row)
    found: dict[str, list[_Measured]] = defaultdict(list)
    for own in by_name.values():
        newest = max(own, key=lambda row: row.measured_at)
        cells = frozenset((row.pool, row.cpu_model, case_id) for row in own for case_id in row.case_ids)
        found[newest.subject.library].append(_Measured(newest.subject, cells, newest.measured_at))
    for measured in found.values():
        measured.sort(key=lambda one: version_order(one.subject))
    return found


def _before(older: list[_Measured], after: _Measured) -> _Measured | None:
    """The nearest first: of a followed branch, which has thousands, one look suffices."""
    other = None
    for before in reversed(older):
        if before.subject.version_key == after.subject.version_key:
            continue
        alike = before.subject.build_profile == after.subject.build_profile
        if (alike or other is None) and not before.cells.isdisjoint(after.cells):
            if alike:
                return before
            other = before
    return other


def end_of(subject: SubjectRow) -> UpgradeEnd:
    version = subject_version(subject)
    return UpgradeEnd(
        subject=subject.name,
        version=version,
        source=subject.source,
        build_profile_label=subject.build_profile_label,
        label=f"{LIBRARIES[subject.library].title} {version}",
    )


def version_names(before: SubjectRow, after: SubjectRow) -> tuple[str, str]:
    """`3.0.19` and `3.5.7`; where both are of one version with their sources, `3.0.19 (debian/bookworm)`; where these
    are the same too, with their build profiles."""
    names = [(subject_version(one), version_and_source(one)) for one in (before, after)]
    for first, second in zip(*names, strict=True):
        if first != second:
            return first, second
    first, second = (f"{name[1]}, {one.build_profile_label}" for name, one in zip(names, (before, after), strict=True))
    return first, second


def version_and_source(subject: SubjectRow) -> str:
    return f"{subject_version(subject)} ({subject.source})"


def subject_version(subject: SubjectRow) -> str:
    return version_text(subject.version, subject.commit)
