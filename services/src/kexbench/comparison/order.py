"""The order in which cases and subjects are shown."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, Protocol

from kexbench.comparison.models import SubjectView
from kexbench.domain.cases import Case, case_order
from kexbench.store.port import OutcomeRow, SampleRow, SubjectRow


def subject_view(subject: SubjectRow) -> SubjectView:
    return SubjectView(subject=subject.name, **vars(subject))


class MeasuredSubject(NamedTuple):
    subject: SubjectRow
    measured_at: datetime


def newest_kits(rows: Iterable[SampleRow | OutcomeRow | MeasuredSubject]) -> list[MeasuredSubject]:
    """Each subject once. Of kits with the same name, the one measured last counts."""
    newest: dict[str, MeasuredSubject] = {}
    for row in rows:
        other = newest.get(row.subject.name)
        if other is None or other.measured_at < row.measured_at:
            newest[row.subject.name] = MeasuredSubject(row.subject, row.measured_at)
    return list(newest.values())


def subjects_in_order(rows: Iterable[SampleRow | OutcomeRow | MeasuredSubject]) -> list[SubjectView]:
    """Each subject once, by library, then version."""
    ordered = sorted(newest_kits(rows), key=lambda row: version_order(row.subject))
    return [subject_view(row.subject) for row in ordered]


class OfCase(Protocol):
    @property
    def case(self) -> Case: ...


def cases_in_order(rows: Iterable[OfCase]) -> list[Case]:
    """Each case once, by protocol, key exchange, then its numbers. Variations of a case follow it."""
    return sorted({row.case.case_id: row.case for row in rows}.values(), key=case_order)


def row_order(row: SampleRow) -> tuple[str, ...]:
    """The order of rows in the store."""
    return *cell_order(row.subject, row.case), row.unit


def cell_order(subject: SubjectRow, case: Case) -> tuple[str, ...]:
    """That of their cells."""
    library, version_key, build_profile, source = version_order(subject)
    return library, version_key, source, build_profile, case.case_id


def version_order(subject: SubjectRow) -> tuple[str, ...]:
    return (subject.library, subject.version_key, subject.build_profile, subject.source)
