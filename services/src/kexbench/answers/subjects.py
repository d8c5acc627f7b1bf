"""Subjects and cases as they are shown: their names, their order, and the two ends of an upgrade."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import NamedTuple, Protocol, cast

from kexbench.domain.cases import Case, case_order
from kexbench.domain.hosts import HostKind
from kexbench.domain.kits import Library
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.library_commits import version_text
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.store.port import MeasuredSubjectRow, OutcomeRow, SampleRow


class MeasuredSubject(NamedTuple):
    subject: Subject
    measured_at: datetime


def newest_kits(rows: Iterable[SampleRow | OutcomeRow | MeasuredSubject]) -> list[MeasuredSubject]:
    """Each subject once. Of kits with the same name, the one measured last counts."""
    newest: dict[str, MeasuredSubject] = {}
    for row in rows:
        other = newest.get(row.subject.name)
        if other is None or other.measured_at < row.measured_at:
            newest[row.subject.name] = MeasuredSubject(row.subject, row.measured_at)
    return list(newest.values())


def subjects_in_order(rows: Iterable[SampleRow | OutcomeRow | MeasuredSubject]) -> list[Subject]:
    """Each subject once, by library, then version."""
    ordered = sorted(newest_kits(rows), key=lambda row: version_order(row.subject))
    return [row.subject for row in ordered]


class OfCase(Protocol):
    @property
    def case(self) -> Case: ...


def cases_in_order(rows: Iterable[OfCase]) -> list[Case]:
    """Each case once, by protocol, key exchange, then its numbers. Variations of a case follow it."""
    return sorted({row.case.case_id: row.case for row in rows}.values(), key=case_order)


def row_order(row: SampleRow) -> tuple[str, ...]:
    """The order of rows in the store."""
    return *cell_order(row.subject, row.case), row.unit


def cell_order(subject: Subject, case: Case) -> tuple[str, ...]:
    """That of their cells."""
    library, version_key, build_profile, source = version_order(subject)
    return library, version_key, source, build_profile, case.case_id


def version_order(subject: Subject) -> tuple[str, ...]:
    return (subject.library, subject.version_key, subject.build_profile, subject.source)


Ends = tuple[UpgradeEnd, UpgradeEnd]
"""The one before and the one after."""


@dataclass(frozen=True)
class Neighbours:
    before: Subject
    after: Subject
    cells: int
    """The number of cases, on each host kind, with numbers of both."""
    measured_at: datetime
    """When `after` was last measured."""

    @property
    def library(self) -> Library:
        return cast(Library, self.after.library)

    @property
    def ends(self) -> Ends:
        return (end_of(self.before), end_of(self.after))


@dataclass(frozen=True)
class _Measured:
    """A subject with all cells in which it has numbers."""

    subject: Subject
    cells: frozenset[tuple[HostKind, str]]
    measured_at: datetime


def neighbours(rows: Iterable[MeasuredSubjectRow]) -> list[Neighbours]:
    """Each subject with the previous version among those that share a cell with it. Those measured last come first; at
    equal times, newer versions."""
    pairs = []
    for measured in _by_library(rows).values():
        for position, after in enumerate(measured):
            if before := _before(measured[:position], after):
                shared = len(before.cells & after.cells)
                pairs.append(Neighbours(before.subject, after.subject, shared, after.measured_at))
    pairs.sort(key=lambda pair: (pair.measured_at, version_order(pair.after)), reverse=True)
    return pairs


def _by_library(rows: Iterable[MeasuredSubjectRow]) -> dict[str, list[_Measured]]:
    """Oldest version first."""
    by_name: dict[str, list[MeasuredSubjectRow]] = defaultdict(list)
    for row in rows:
        by_name[row.subject.name].append(row)
    by_library: dict[str, list[_Measured]] = defaultdict(list)
    for subject_rows in by_name.values():
        newest = max(subject_rows, key=lambda row: row.measured_at)
        cells = frozenset((row.host_kind, case_id) for row in subject_rows for case_id in row.case_ids)
        by_library[newest.subject.library].append(_Measured(newest.subject, cells, newest.measured_at))
    for subjects in by_library.values():
        subjects.sort(key=lambda entry: version_order(entry.subject))
    return by_library


def _before(older: list[_Measured], after: _Measured) -> _Measured | None:
    """The search starts at the nearest: a followed branch has thousands of commits."""
    for _, builds in groupby(reversed(older), key=lambda entry: entry.subject.version_key):
        beside = {build.subject: build for build in builds if not build.cells.isdisjoint(after.cells)}
        if subject := previous_of(after.subject, beside):
            return beside[subject]
    return None


def previous_of(subject: Subject, beside: Iterable[Subject]) -> Subject | None:
    """The nearest lower version of the library among those measured beside a subject, whatever its build profile. Of
    several builds of that version, the one with the subject's build profile. Every change from a previous version is
    from the one that this function returns."""
    lower = (other for other in beside if other.library == subject.library and other.version_key < subject.version_key)
    return max(
        lower,
        key=lambda other: (other.version_key, other.build_profile == subject.build_profile, version_order(other)),
        default=None,
    )


def end_of(subject: Subject) -> UpgradeEnd:
    version = subject_version(subject)
    return UpgradeEnd(
        subject=subject.name,
        version=version,
        source=subject.source,
        build_profile_label=subject.build_profile_label,
        label=f"{LIBRARIES[subject.library].title} {version}",
    )


def version_names(before: Subject, after: Subject) -> tuple[str, str]:
    """`3.0.19` and `3.5.7`. If these are the same, with their sources: `3.0.19 (debian/bookworm)`. If the sources are
    the same too, with their build profiles."""
    names = [(subject_version(end), version_and_source(end)) for end in (before, after)]
    for first, second in zip(*names, strict=True):
        if first != second:
            return first, second
    first, second = (f"{name[1]}, {end.build_profile_label}" for name, end in zip(names, (before, after), strict=True))
    return first, second


def version_and_source(subject: Subject) -> str:
    return f"{subject_version(subject)} ({subject.source})"


def subject_version(subject: Subject) -> str:
    return version_text(subject.version, subject.commit)
