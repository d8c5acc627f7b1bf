"""The table of stacks: its columns with their numbers and verdicts."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from kexbench.analysis.estimates import compare, estimate_median
from kexbench.answers.cells import Cell, shown_cells
from kexbench.answers.comparing import DIFFERENT_PROFILE, chosen
from kexbench.answers.judging import judged_steps
from kexbench.answers.missing import NOT_MEASURED
from kexbench.answers.numbers import Step
from kexbench.answers.ranking import Candidate, InRun, Judgement, first_steps, rank, run_of
from kexbench.answers.shapes import CaseView
from kexbench.answers.stacks_columns import KINDS, Column
from kexbench.answers.stacks_shapes import Ranked, StackCell, StackColumn
from kexbench.answers.stacks_words import column_title
from kexbench.answers.subjects import end_of
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.samples import Metric, Negotiated
from kexbench.domain.subjects import Subject
from kexbench.store.port import AppearanceRow, SampleRow, SampleStore, Selection

_TOO_FEW = "too few invocations have the CPU time of both servers"
_OWN_THREADS_SHARE = 0.01
"""Of the server's time. Libraries without threads of their own have some nanoseconds too."""
_SHOWN = (Metric.SERVER_CPU_NS, Metric.BACKGROUND_CPU_NS, Metric.SERVER_HELD_BYTES, Metric.SERVER_BYTES)
_RATES = (Metric.ELAPSED_NS, Metric.ALONE_NS)


_Place = tuple[str, str]
"""A case's id and a subject."""


class _Numbers(NamedTuple):
    """What a run says of a stack in a case."""

    estimates: Mapping[Metric, Estimate]
    measured_at: datetime
    scaling: Estimate | None
    """The rate of several threads relative to one alone."""
    negotiated: Negotiated | None


class StacksTable:
    """The columns with their numbers and verdicts. A column is ranked by one run, whose numbers it shows; a stack that
    the run does not have shows its newest."""

    def __init__(
        self,
        store: SampleStore,
        here: Selection,
        subjects: Sequence[Subject],
        previous: Mapping[str, Subject | None],
        columns: Sequence[Column],
    ) -> None:
        self._store = store
        self._subjects = subjects if columns else ()
        self._columns = columns if subjects else ()
        self.labels = {subject.name: end_of(subject).label for subject in subjects}
        self.kind = HostKind(here.pool or "", here.cpu_model or "")
        self._previous = previous
        self._here = replace(
            here,
            subjects=tuple(self.labels),
            case_ids=tuple(sorted(column.case.case_id for column in self._columns)),
        )
        self._newest = self._newest_cells()
        self._appearances = self._all_appearances()
        self._runs = {case_id: self.run_of([case_id]) for case_id in self._here.case_ids}
        self._read: dict[str, Mapping[_Place, _Numbers]] = {}
        """By run."""

    def _newest_cells(self) -> dict[_Place, Cell]:
        """As in the matrix, for outcomes and changes, by case id and subject."""
        if not self._columns:
            return {}
        older = (each.name for each in self._previous.values() if each)
        here = replace(self._here, case_ids=(), subjects=tuple(sorted({*self.labels, *older})))
        return {(cell.case_id, cell.subject): cell for cell in shown_cells(self._store, here).cells}

    def _all_appearances(self) -> list[AppearanceRow]:
        return self._store.kept_value(
            ("runs of stacks", self._here),
            lambda evidence: evidence.of_subjects(self._here.subjects),
            lambda: self._store.appearances(self._here) if self._columns else [],
        )

    def run_of(self, case_ids: Collection[str]) -> InRun | None:
        """The run that ranks the stacks in all of the cases."""
        return run_of(self._appearances, case_ids)

    def columns(self) -> list[StackColumn]:
        ranked = self._ranked()
        return [
            StackColumn(
                kind=column.work.kind,
                heading=KINDS[column.work.kind],
                title=column_title(column.work),
                case=CaseView.of(column.case),
                cells=[
                    self._cell(column.case, subject, ranked[column.case.case_id].get(subject.name))
                    for subject in self._subjects
                ],
            )
            for column in self._columns
        ]

    def _ranked(self) -> dict[str, dict[str, Ranked]]:
        """By case id and subject."""
        candidates = {
            case_id: self.candidates(case_id, in_run) if in_run else [] for case_id, in_run in self._runs.items()
        }
        steps_by_run: dict[str, set[Step]] = defaultdict(set)
        for case_id, in_run in self._runs.items():
            if in_run:
                steps_by_run[in_run.run_id].update(first_steps(candidates[case_id]))
        for run_id, steps in steps_by_run.items():  # together, which reads once; later each is at hand
            judged_steps(self._store, steps, run_ids=(run_id, run_id))
        return {
            case_id: rank(candidates[case_id], self._judge_in(case_id, in_run.run_id)) | self._apart(case_id, in_run)
            if in_run
            else {}
            for case_id, in_run in self._runs.items()
        }

    def candidates(self, case_id: str, in_run: InRun) -> list[Candidate]:
        numbers = self._numbers_in(in_run.run_id)
        return [
            Candidate(name, own.estimates[Metric.SERVER_CPU_NS].value, own.negotiated)
            for name in self.labels
            if name in in_run.names and (own := numbers.get((case_id, name)))
        ]

    def _apart(self, case_id: str, in_run: InRun) -> dict[str, Ranked]:
        """Those that the run does not have."""
        reason = f"not measured in the same run as {self.label_of(in_run)}"
        return {
            name: Ranked(standing="not compared", reason=reason)
            for name in self.labels
            if name not in in_run.names and self._has_number(case_id, name)
        }

    def label_of(self, in_run: InRun) -> str:
        """The first stack of the run."""
        return next(label for name, label in self.labels.items() if name in in_run.names)

    def _judge_in(self, case_id: str, run_id: str) -> Callable[[str, str], Judgement]:
        def judge(first: str, second: str) -> Judgement:
            """By the verdict on the server, as the comparison of the two in the run has it."""
            step: Step = (first, second)
            cell = judged_steps(self._store, [step], run_ids=(run_id, run_id))[step].of(case_id, self.kind)
            if cell is None:
                return Judgement("unresolved", None, f"not measured beside {self.labels[first]}")
            _, judged = cell
            if judged.verdict == "unlike":
                return Judgement(judged.verdict, None, "; ".join(judged.warnings))
            if judged.server is None:
                return Judgement("unresolved", None, _TOO_FEW)
            return Judgement(judged.server.verdict, judged.server, caveats=between_libraries(step, judged.warnings))

        return judge

    def _has_number(self, case_id: str, name: str) -> bool:
        newest = self._newest.get((case_id, name))
        return newest is not None and newest.estimate is not None

    def _numbers_of(self, case_id: str, name: str) -> tuple[str, _Numbers] | None:
        """Those of the run that ranks the column, otherwise the newest, with their run."""
        in_run, newest = self._runs.get(case_id), self._newest.get((case_id, name))
        if in_run and name in in_run.names:
            run_id = in_run.run_id
        elif newest and newest.estimate:
            run_id = newest.run_id
        else:
            return None
        numbers = self._numbers_in(run_id).get((case_id, name))
        return (run_id, numbers) if numbers else None

    def _numbers_in(self, run_id: str) -> Mapping[_Place, _Numbers]:
        if run_id not in self._read:
            self._read[run_id] = self._store.kept_value(
                ("numbers of stacks", self._here, run_id),
                lambda evidence: evidence.of_run(run_id),
                lambda: self._read_run(run_id),
            )
        return self._read[run_id]

    def _read_run(self, run_id: str) -> Mapping[_Place, _Numbers]:
        here = replace(self._here, runs=(run_id,))
        by_place: dict[_Place, dict[Metric, list[SampleRow]]] = defaultdict(dict)
        for metric, rows in self._store.samples_by_metric(here, _SHOWN).items():
            for row in rows:
                by_place[_place(row)].setdefault(metric, []).append(row)
        references = {f"{each.library}@{each.source}": each.name for each in self._subjects}
        negotiated = {
            (case_id, references.get(reference)): each
            for (_, case_id, reference), each in chosen(self._store.negotiated([run_id])).items()
        }
        scaling = self._scaling(here)
        return {
            place: _Numbers(
                {metric: estimate_median([row.level for row in rows]) for metric, rows in by_metric.items()},
                max(row.measured_at for row in by_metric[Metric.SERVER_CPU_NS]),
                scaling.get(place),
                negotiated.get(place),
            )
            for place, by_metric in by_place.items()
            if Metric.SERVER_CPU_NS in by_metric
        }

    def _scaling(self, here: Selection) -> dict[_Place, Estimate]:
        """From the invocations that have both rates, as in the curves of `scaling`."""
        case_ids = tuple(sorted(column.case.case_id for column in self._columns if column.case.threads > 1))
        if not case_ids:
            return {}
        rates: dict[_Place, dict[Metric, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(dict))
        for metric, rows in self._store.samples_by_metric(replace(here, case_ids=case_ids), _RATES).items():
            for row in rows:
                rates[_place(row)][metric][row.unit] = [1e9 / row.level]
        ratios = {place: compare(*(of_place[metric] for metric in _RATES)) for place, of_place in rates.items()}
        return {
            place: Estimate(value=ratio.ratio, low=ratio.low, high=ratio.high)
            for place, ratio in ratios.items()
            if ratio
        }

    def _cell(self, case: Case, subject: Subject, ranked: Ranked | None) -> StackCell:
        newest = self._newest.get((case.case_id, subject.name))
        shown = self._numbers_of(case.case_id, subject.name)
        numbers = shown[1] if shown else None
        outcome = newest.outcome if newest else None
        if ranked is None:
            ranked = Ranked(standing="missing", reason=outcome.reason if outcome else NOT_MEASURED)
        cpu, background, held, sent = (numbers.estimates.get(metric) if numbers else None for metric in _SHOWN)
        return StackCell(
            **vars(ranked),
            subject=subject.name,
            cpu_ns=cpu,
            background_cpu_ns=background,
            has_own_threads=background.value >= _OWN_THREADS_SHARE * cpu.value if background and cpu else None,
            held_bytes=held,
            sent_bytes=sent,
            change=newest.change if newest and self._is_from_previous(newest) else None,
            scaling=numbers.scaling if numbers else None,
            outcome=outcome.kind if outcome else None,
            run_id=shown[0] if shown else newest.run_id if newest else None,
            measured_at=numbers.measured_at if numbers else newest.measured_at if newest else None,
            command=self._command(case, subject, ranked.against) if numbers else None,
        )

    def _is_from_previous(self, cell: Cell) -> bool:
        before = self._previous[cell.subject]
        return before is not None and cell.change is not None and cell.change.before.subject == before.name

    def _command(self, case: Case, subject: Subject, against: str | None) -> str:
        """Beside the one that the ratio is relative to, or another: a build alone is compared with its copy."""
        others = [each for each in self._subjects if each is not subject and self._numbers_of(case.case_id, each.name)]
        base = next((each for each in others if each.name == against), next(iter(others), None))
        own = f"{subject.library}@{subject.source}"
        ends = f"{base.library}@{base.source} {own}" if base else f"{own} {own}+copy=2"
        return f"kexbench compare {ends} --case '{case.case_id}'"


def between_libraries(step: Step, warnings: Sequence[str]) -> tuple[str, ...]:
    """Two libraries are never built alike, so that says nothing about them."""
    one, other = (name.partition("@")[0] for name in step)
    return tuple(warning for warning in warnings if one == other or warning != DIFFERENT_PROFILE)


def _place(row: SampleRow) -> _Place:
    return row.case.case_id, row.subject.name
