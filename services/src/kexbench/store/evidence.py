"""Which results are stored, without their numbers: what each run measured in each case. Pure."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, TypeVar

from kexbench.domain.samples import Metric

Key = TypeVar("Key", bound=Hashable)
Token = Hashable
"""Equal as long as some results are the same. It differs from process to process."""


class RunCase(NamedTuple):
    run_id: str
    case_id: str


class OnKind(NamedTuple):
    """What a run measured in a case on a host kind."""

    kind: tuple[str, str]
    """Pool and host kind."""
    oldest: datetime
    newest: datetime
    subjects: tuple[str, ...]
    """Subject.name of each, also of the sentinel's."""
    with_sentinel: bool
    metrics: tuple[str, ...]
    libraries: tuple[str, ...]
    """Those with numbers that overviews show, unless the run is left out."""


class Digest(NamedTuple):
    """What a run measured in a case."""

    checksum: int
    """Of the counted invocations."""
    kinds: tuple[OnKind, ...]


@dataclass(frozen=True)
class Evidence:
    """The results of a moment."""

    basis: str = ""
    """Changes if a host's kind does, or if all summaries are computed anew."""
    asides: frozenset[str] = frozenset()
    """All runs aside (Run.is_aside)."""
    first_looks: frozenset[str] = frozenset()
    """Those of them that are first looks."""
    digests: Mapping[RunCase, Digest] = field(default_factory=dict)
    deliveries: Mapping[RunCase, int] = field(default_factory=dict)
    """By this process. A repeated delivery with other numbers replaces rows, but leaves the checksum."""
    kinds_of_hosts: Mapping[str, str] = field(default_factory=dict)
    """The host kind of each host, by its id."""

    @cached_property
    def shows_first_looks(self) -> bool:
        """Overviews show first looks as long as no run of the history has a cost: nothing else would be there."""
        return not any(
            each.libraries and Metric.CPU_NS in each.metrics
            for place, digest in self.digests.items()
            if place.run_id not in self.asides
            for each in digest.kinds
        )

    @cached_property
    def left_out(self) -> frozenset[str]:
        """Runs whose numbers no overview shows."""
        return self.asides - self.first_looks if self.shows_first_looks else self.asides

    def of_all(self) -> Token:
        return self.basis, _joined(self._marks.values())

    def of_run(self, run_id: str) -> Token:
        return self.basis, self._runs.get(run_id)

    def of_case(self, case_id: str, run_id: str | None = None) -> Token:
        """Those of a case, in one run or in all."""
        mark = self._cases.get(case_id) if run_id is None else self._marks.get(RunCase(run_id, case_id))
        return self.basis, mark

    def of_case_on(self, case_id: str, pool: str, host_kind: str) -> Token:
        """All results of the runs that measured a case on a host kind."""
        return self.basis, self._cases_on_kinds.get((case_id, (pool, host_kind)))

    def of_subjects(self, names: Iterable[str], run_id: str | None = None, case_id: str | None = None) -> Token:
        """All results of the runs and cases that measured one of the subjects; of one run and case, or of all."""
        if run_id is not None:
            return self.of_run(run_id) if case_id is None else self.of_case(case_id, run_id)
        if case_id is not None:
            return self.basis, *(self._subjects_in_cases.get((name, case_id)) for name in names)
        return self.basis, *(self._subjects.get(name) for name in names)

    def of_copies(self) -> Token:
        """All results of the runs and cases that measured a kit next to its copy."""
        return self.basis, self._all_copies

    def of_sentinels(self, kind: tuple[str, str], before: datetime) -> Token:
        """All results of the runs and cases that measured a sentinel on a host kind before a time."""
        return self.basis, _joined(
            self._marks[place]
            for place, digest in self.digests.items()
            if any(each.kind == kind and each.with_sentinel and each.oldest < before for each in digest.kinds)
        )

    def case_ids(self, run_id: str | None = None) -> list[str]:
        """The cases with results in one run, or in any."""
        return sorted({place.case_id for place in self.digests if run_id in (None, place.run_id)})

    def metrics(self) -> set[str]:
        return {metric for metrics in {each.metrics for each in self._on_kinds} for metric in metrics} - {""}

    def libraries(self) -> set[str]:
        """Those with numbers that overviews show."""
        shown = {
            each.libraries
            for place, digest in self.digests.items()
            if place.run_id not in self.left_out
            for each in digest.kinds
        }
        return {library for libraries in shown for library in libraries}

    def host_kinds(self, run_id: str | None = None) -> list[tuple[str, str]]:
        """The most recently measured first. Host kinds with only runs that are left out come last."""
        newest: dict[tuple[str, str], tuple[float, float]] = {}
        for place, digest in self.digests.items():
            if run_id in (None, place.run_id):
                for each in digest.kinds:
                    at = each.newest.timestamp()
                    shown, any_at = newest.get(each.kind, (0.0, 0.0))
                    newest[each.kind] = (shown if place.run_id in self.left_out else max(shown, at), max(any_at, at))
        return sorted(newest, key=lambda kind: (*(-at for at in newest[kind]), *kind))

    def measured_at(self, run_ids: Collection[str]) -> dict[str, datetime]:
        """When those of some runs with results were measured last."""
        newest: dict[str, datetime] = {}
        for place, digest in self.digests.items():
            if place.run_id in run_ids and digest.kinds:
                at = max(each.newest for each in digest.kinds)
                newest[place.run_id] = max(newest.get(place.run_id, at), at)
        return newest

    @property
    def _on_kinds(self) -> Iterable[OnKind]:
        return (each for digest in self.digests.values() for each in digest.kinds)

    @cached_property
    def _marks(self) -> Mapping[RunCase, int]:
        return {
            place: hash((place, digest.checksum, place.run_id in self.left_out, self.deliveries.get(place, 0)))
            for place, digest in self.digests.items()
        }

    @cached_property
    def _runs(self) -> Mapping[str, int]:
        return _grouped((place.run_id, mark) for place, mark in self._marks.items())

    @cached_property
    def _cases(self) -> Mapping[str, int]:
        return _grouped((place.case_id, mark) for place, mark in self._marks.items())

    @cached_property
    def _cases_on_kinds(self) -> Mapping[tuple[str, tuple[str, str]], int]:
        return _grouped(
            ((place.case_id, kind), self._marks[place])
            for place, digest in self.digests.items()
            for kind in {each.kind for each in digest.kinds}
        )

    @cached_property
    def _subjects(self) -> Mapping[str, int]:
        return _grouped((name, mark) for (name, _), mark in self._subjects_in_cases.items())

    @cached_property
    def _all_copies(self) -> int:
        together = {each.subjects for each in self._on_kinds}
        with_copies = {names for names in together if any("+copy=" in name for name in names)}
        return _joined(
            self._marks[place]
            for place, digest in self.digests.items()
            if any(each.subjects in with_copies for each in digest.kinds)
        )

    @cached_property
    def _subjects_in_cases(self) -> Mapping[tuple[str, str], int]:
        """Most runs measure the same subjects in a case, so these are gone through once for all such runs."""
        together = _grouped(
            ((place.case_id, frozenset(each.subjects for each in digest.kinds)), self._marks[place])
            for place, digest in self.digests.items()
        )
        return _grouped(
            ((name, case_id), mark)
            for (case_id, groups), mark in together.items()
            for name in {name for names in groups for name in names}
        )


def _joined(marks: Iterable[int]) -> int:
    joined = 0
    for mark in marks:
        joined ^= mark
    return joined


def _grouped(marks: Iterable[tuple[Key, int]]) -> Mapping[Key, int]:
    grouped: dict[Key, int] = defaultdict(int)
    for key, mark in marks:
        grouped[key] ^= mark
    return grouped
