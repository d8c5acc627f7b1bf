"""What one difference between two cases costs a start: trust anchors, FIPS. Two cases that were measured in turns are
judged as two versions are."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from pydantic import Field

from kexbench.analysis.compared import CellData
from kexbench.answers.cells import ShownCells
from kexbench.answers.judging import judged_together
from kexbench.answers.numbers import Place, numbers_of
from kexbench.answers.shapes import CaseView
from kexbench.answers.two_cases import in_turns
from kexbench.domain.cases import Case, differences
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.metrics import Metric
from kexbench.store.port import SampleStore, Selection


class _Pair(NamedTuple):
    """Two cases of a subject, measured in one run."""

    subject: str
    run_id: str
    cases: tuple[Case, Case]

    @property
    def places(self) -> list[Place]:
        return [(case.case_id, self.subject, self.run_id) for case in self.cases]


class LifeVariation(Frozen):
    """What one difference between two cases costs the newest version of a library when a process starts."""

    subject: str
    usual: CaseView
    other: CaseView
    what: str = Field(description="how the other case differs", examples=["FIPS no → yes"])
    before: Estimate = Field(description="CPU time of a start of the usual case, in nanoseconds")
    after: Estimate = Field(description="the same of the other case")
    move: Ratio = Field(description="after by before, which decides")


def variations(store: SampleStore, kind: HostKind, starts: ShownCells) -> list[LifeVariation]:
    """Of the newest version that was measured of each library, those that cost more, the dearest first."""
    measured = {cell.subject for cell in starts.cells if cell.estimate}
    newest = {subject.library: subject.name for subject in starts.subjects if subject.name in measured}
    data = list(_measured(store, kind, list(_pairs(starts, set(newest.values())))))
    cells = judged_together([each for _, each in data])
    estimates = {(cell.case_id, cell.subject): cell.estimate for cell in starts.cells if cell.estimate}
    found = []
    for (pair, _), cell in zip(data, cells, strict=True):
        if cell.move and cell.verdict in ("more", "less"):
            is_more = cell.verdict == "more"
            usual, other = pair.cases if is_more else reversed(pair.cases)
            found.append(
                LifeVariation(
                    subject=pair.subject,
                    usual=CaseView.of(usual),
                    other=CaseView.of(other),
                    what=differences(usual, other)[0].words,
                    before=estimates[usual.case_id, pair.subject],
                    after=estimates[other.case_id, pair.subject],
                    move=cell.move if is_more else cell.move.inverse,
                )
            )
    return sorted(found, key=lambda each: each.before.value - each.after.value)


def _pairs(starts: ShownCells, names: set[str]) -> Iterator[_Pair]:
    """Cases that differ in one dimension."""
    cases = {case.case_id: case for case in starts.cases}
    own = [cell for cell in starts.cells if cell.subject in names and cell.estimate]
    for one, other in combinations(own, 2):
        both = cases[one.case_id], cases[other.case_id]
        if (one.subject, one.run_id) == (other.subject, other.run_id) and len(differences(*both)) == 1:
            yield _Pair(one.subject, one.run_id, both)


def _measured(store: SampleStore, kind: HostKind, pairs: Sequence[_Pair]) -> Iterator[tuple[_Pair, CellData]]:
    if not pairs:
        return
    here = Selection(
        Metric.START_CPU_NS,
        kind.pool,
        kind.cpu_model,
        subjects=tuple(sorted({pair.subject for pair in pairs})),
        runs=tuple(sorted({pair.run_id for pair in pairs})),
        asides=True,
    )
    numbers = numbers_of(store.samples(here), {place for pair in pairs for place in pair.places})
    for pair in pairs:
        usual, other = (numbers[place] for place in pair.places)
        if data := in_turns(store, (kind, kind), pair.cases, pair.run_id, {"both": usual}, {"both": other}):
            yield pair, data
