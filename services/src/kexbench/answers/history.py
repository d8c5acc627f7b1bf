"""What a case cost over the newest versions of a library, as small lines next to numbers show it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from kexbench.answers.subjects import subject_version, version_order
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.store.port import MeasuredSubjectRow, SampleStore, Selection

MOST_VERSIONS = 40
"""More are not read in a small line."""


class CellHistory(Frozen):
    """The CPU time of both sides in one case over the versions of a line."""

    line: int = Field(description="place in the answer's lines")
    values: list[float | None] = Field(description="in nanoseconds, by version; null where not measured")


class HistoryLine(Frozen):
    """A library's versions of one build profile on a host kind, up to the newest."""

    library: str
    build_profile_label: str
    host_kind: HostKind
    versions: list[str]
    base: int | None = Field(description="place of the subject of `base` in the versions; null if it is not there")
    other: int | None


@dataclass(frozen=True)
class Line:
    kind: HostKind
    subjects: tuple[Subject, ...]
    """In version order."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(subject.name for subject in self.subjects)

    def view(self, base: Subject, other: Subject) -> HistoryLine:
        base_place, other_place = (
            self.names.index(end.name) if end.name in self.names else None for end in (base, other)
        )
        return HistoryLine(
            library=self.subjects[0].library,
            build_profile_label=self.subjects[0].build_profile_label,
            host_kind=self.kind,
            versions=[subject_version(subject) for subject in self.subjects],
            base=base_place,
            other=other_place,
        )


def line_of(end: Subject, kind: HostKind, measured: Collection[MeasuredSubjectRow]) -> Line:
    """The newest versions of an end's library and build profile on a host kind."""
    subjects = {
        row.subject.name: row.subject
        for row in measured
        if (row.subject.library, row.subject.build_profile) == (end.library, end.build_profile)
        and row.host_kind == kind
    }
    return Line(kind, tuple(sorted(subjects.values(), key=version_order)[-MOST_VERSIONS:]))


@dataclass
class _History:
    """The values of a case. Without a length, it counts as one cell where it is kept."""

    values: list[float | None]


def history_values(
    store: SampleStore, lines: Collection[Line], case_ids: Sequence[str]
) -> Mapping[tuple[Line, str], list[float | None]]:
    """The median costs of each version by line and case, kept as long as the results of the case on the host kind are
    the same."""

    def compute(keys: Sequence[tuple[Line, str]]) -> dict[tuple[Line, str], _History]:
        by_line: dict[Line, list[str]] = defaultdict(list)
        for line, case_id in keys:
            by_line[line].append(case_id)
        histories = {key: _History([None] * len(key[0].subjects)) for key in keys}
        for line, wanted in by_line.items():
            here = Selection(Metric.CPU_NS, line.kind.pool, line.kind.cpu_model, subjects=line.names)
            for row in store.levels(here, wanted):
                histories[line, row.case_id].values[line.names.index(row.subject.name)] = row.level
        return histories

    kept = store.kept(
        [(line, case_id) for line in lines for case_id in case_ids],
        lambda evidence, key: evidence.of_case_on(key[1], key[0].kind.pool, key[0].kind.cpu_model),
        compute,
    )
    return {key: history.values for key, history in kept.items()}
