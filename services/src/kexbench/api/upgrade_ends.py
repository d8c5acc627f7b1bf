"""The two ends of an upgrade: which subjects are neighbours, what they are called, and which ones somebody means."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import cast

from kexbench.api.cells import version_order
from kexbench.api.models import Candidate
from kexbench.api.problems import ProblemError
from kexbench.domain.kits import Library
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.library_commits import SHORT_HASH, version_text
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.store.port import MeasuredSubjectRow, SubjectRow

NAMED = 12
"""So many versions are named where an unknown one was asked for."""


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
    version = _version(subject)
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
    names = [(_version(one), f"{_version(one)} ({one.source})") for one in (before, after)]
    for first, second in zip(*names, strict=True):
        if first != second:
            return first, second
    first, second = (f"{name[1]}, {one.build_profile_label}" for name, one in zip(names, (before, after), strict=True))
    return first, second


def _version(subject: SubjectRow) -> str:
    return version_text(subject.version, subject.commit)


def meant(known: Collection[SubjectRow], library: str, text: str, tracked: Collection[str]) -> SubjectRow:
    """The subject that somebody wrote as a version, a source or its unique name. A version that several have is that of
    the `tracked` source. Raises problems, with the candidates where there are several."""
    subjects = {subject.name: subject for subject in known}
    if text in subjects:
        return subjects[text]
    found = [name for name, subject in subjects.items() if _fits(subject, text)]
    found = [name for name in found if subjects[name].source in tracked] or found
    if len(found) > 1:
        detail = f"{library} {text} means {len(found)} subjects: {', '.join(found)}"
        candidates = [_candidate(text, subjects[name]) for name in found]
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "name one of them", candidates)
    if not found:
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"no numbers of {library} {text} are stored; there are some of {_named(subjects)}",
            "measure it: kexbench run SPEC; GET /api/v1/upgrades lists what can be compared",
        )
    return subjects[found[0]]


def _candidate(asked: str, subject: SubjectRow) -> Candidate:
    return Candidate(
        asked=asked,
        subject=subject.name,
        version=_version(subject),
        source=subject.source,
        build_profile_label=subject.build_profile_label,
    )


def _fits(subject: SubjectRow, text: str) -> bool:
    written = (subject.version, subject.source, f"{subject.library}@{subject.source}", _version(subject))
    of_commit = subject.commit is not None and len(text) >= SHORT_HASH and subject.commit.hash.startswith(text)
    return text in written or of_commit


def _named(subjects: Mapping[str, SubjectRow]) -> str:
    """The newest versions."""
    ordered = sorted(subjects.values(), key=version_order, reverse=True)
    versions = list(dict.fromkeys(map(_version, ordered)))
    more = len(versions) - NAMED
    return (", ".join(versions[:NAMED]) or "none") + (f" and {more:,} more" if more > 0 else "")
