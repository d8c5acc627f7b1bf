"""The table of stacks: its columns with their numbers and verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.answers.cells import Cell, shown_cells
from kexbench.answers.comparing import chosen
from kexbench.answers.judging import judged_steps
from kexbench.answers.missing import NOT_MEASURED
from kexbench.answers.numbers import Step
from kexbench.answers.ranking import Candidate, Judgement, first_steps, rank
from kexbench.answers.scaling import scaling_cases
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
from kexbench.store.port import SampleStore, Selection

_TOO_FEW = "too few invocations have the CPU time of both servers"
_BACKGROUND_SHARE = 0.01
"""Of the server's time, from which on the time of a library's own threads is told."""
_CellOf = Mapping[tuple[str, str], Cell]
"""By case id and subject."""


class StacksTable:
    """The columns with their numbers and verdicts."""

    def __init__(
        self,
        store: SampleStore,
        here: Selection,
        subjects: Sequence[Subject],
        previous: Mapping[str, Subject | None],
        columns: Sequence[Column],
    ) -> None:
        self._store = store
        self._columns = columns
        self._subjects = subjects
        self.labels = {subject.name: end_of(subject).label for subject in subjects}
        names = tuple(self.labels)
        self._here = replace(here, subjects=names)
        self._kind = HostKind(here.pool or "", here.cpu_model or "")
        older = (each.name for each in previous.values() if each)
        self._cpu = self._cells(Metric.SERVER_CPU_NS, (*names, *older))
        self._background = self._cells(Metric.BACKGROUND_CPU_NS, names)
        self._held = self._cells(Metric.SERVER_HELD_BYTES, names)
        self._sent = self._cells(Metric.SERVER_BYTES, names)
        self._previous = previous
        self._counts = self._invocations()
        self._negotiated = self._negotiations()
        self._scaling = self._speedups()

    def _cells(self, metric: Metric, names: tuple[str, ...]) -> _CellOf:
        """As in the matrix, of some subjects alone."""
        if not self._columns or not names:
            return {}
        shown = shown_cells(self._store, replace(self._here, metric=metric, subjects=tuple(sorted(set(names)))))
        return {(cell.case_id, cell.subject): cell for cell in shown.cells}

    def columns(self) -> list[StackColumn]:
        candidates = {column.case.case_id: self._candidates(column.case.case_id) for column in self._columns}
        steps = {step for case_id, each in candidates.items() for step in first_steps(each, self._together_in(case_id))}
        judged_steps(self._store, steps)  # together, which reads once; later each is at hand
        ranked = {
            case_id: rank(each, self._together_in(case_id), self._judge_in(case_id))
            for case_id, each in candidates.items()
        }
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

    def _candidates(self, case_id: str) -> list[Candidate]:
        return [
            Candidate(name, label, cell.estimate.value, cell.measured_at, self._negotiated_of(cell, name))
            for name, label in self.labels.items()
            if (cell := self._cpu.get((case_id, name))) and cell.estimate
        ]

    def _negotiated_of(self, cell: Cell, name: str) -> Negotiated | None:
        return self._negotiated.get((cell.run_id, cell.case_id, name))

    def _judge_in(self, case_id: str) -> Callable[[str, str], Judgement]:
        def judge(first: str, second: str) -> Judgement:
            """By the verdict on the server, as the comparison of the two has it."""
            step: Step = (first, second)
            cell = judged_steps(self._store, [step])[step].of(case_id, self._kind)
            if cell is None:
                return Judgement("unresolved", None, f"not measured beside {self.labels[first]}")
            _, judged = cell
            if judged.verdict in ("unlike", "apart"):
                return Judgement(judged.verdict, None, "; ".join(judged.warnings))
            if judged.server is None or len(judged.run_ids) > 1:
                return Judgement("unresolved", None, _TOO_FEW)
            return Judgement(judged.server.verdict, judged.server, paired=judged.paired)

        return judge

    def _together_in(self, case_id: str) -> Callable[[str, str], bool]:
        """The subjects of a long list have their turns in blocks, so a run may have no invocation of both."""

        def together(one: str, other: str) -> bool:
            first, second = (self._counts.get((case_id, name), {}) for name in (one, other))
            return any(
                min(first[run_id], second[run_id]) >= MIN_COMPARED_INVOCATIONS for run_id in first.keys() & second
            )

        return together

    def _invocations(self) -> dict[tuple[str, str], dict[str, int]]:
        """How many invocations of each run have a stack, by case id and subject."""
        names = self._here.subjects
        case_ids = tuple(sorted(column.case.case_id for column in self._columns))
        here = replace(self._here, metric=Metric.CPU_NS, case_ids=case_ids)

        def compute() -> dict[tuple[str, str], dict[str, int]]:
            counts: dict[tuple[str, str], dict[str, int]] = {}
            for row in self._store.appearances(here) if names else ():
                counts.setdefault((row.case.case_id, row.subject), {})[row.run_id] = len(row.units)
            return counts

        return self._store.kept_value(
            ("invocations of stacks", here), lambda evidence: evidence.of_subjects(names), compute
        )

    def _negotiations(self) -> dict[tuple[str, str, str], Negotiated]:
        """By run, case id and subject. Of every case: libraries differ in what versions of one have in common."""
        references = {f"{each.library}@{each.source}": each.name for each in self._subjects}
        runs = {cell.run_id for cell in self._cpu.values() if cell.estimate and cell.subject in self.labels}
        by_run = self._store.kept(
            [("negotiated", run_id) for run_id in sorted(runs)],
            lambda evidence, key: evidence.of_run(key[1]),
            lambda keys: self._negotiated_in([run_id for _, run_id in keys]),
        )
        return {
            (run_id, case_id, references[reference]): negotiated
            for of_run in by_run.values()
            for (run_id, case_id, reference), negotiated in of_run.items()
            if reference in references
        }

    def _negotiated_in(self, run_ids: Sequence[str]) -> dict[tuple[str, str], dict[tuple[str, str, str], Negotiated]]:
        by_run: dict[tuple[str, str], dict[tuple[str, str, str], Negotiated]] = {
            ("negotiated", run_id): {} for run_id in run_ids
        }
        for place, negotiated in chosen(self._store.negotiated(run_ids)).items():
            by_run["negotiated", place[0]][place] = negotiated
        return by_run

    def _speedups(self) -> dict[tuple[str, str], Estimate]:
        """Rates of several threads relative to one alone, by case id and subject."""
        cases = [column.case for column in self._columns if column.case.threads > 1]
        if not cases:
            return {}
        here = replace(self._here, metric=Metric.ELAPSED_NS)
        plain = [row.case for row in self._store.measured_cases(here)]
        by_line = {
            (curve.title, line.subject, point.threads): point.efficiency
            for curve in scaling_cases(self._store, here, plain)
            for line in curve.lines
            for point in line.points
        }
        return {
            (case.case_id, name): _scaled(efficiency, case.threads)
            for case in cases
            for name in self.labels
            if (efficiency := by_line.get((_alone_label(case), name, case.threads)))
        }

    def _cell(self, case: Case, subject: Subject, ranked: Ranked | None) -> StackCell:
        place = (case.case_id, subject.name)
        cpu, held, sent = (cells.get(place) for cells in (self._cpu, self._held, self._sent))
        outcome = cpu.outcome if cpu else None
        if ranked is None:
            ranked = Ranked(standing="missing", reason=outcome.reason if outcome else NOT_MEASURED)
        return StackCell(
            **vars(ranked),
            subject=subject.name,
            cpu_ns=cpu.estimate if cpu else None,
            background_cpu_ns=_worth_telling(self._background.get(place), cpu),
            held_bytes=held.estimate if held else None,
            sent_bytes=sent.estimate if sent else None,
            change=cpu.change if cpu and self._is_from_previous(cpu) else None,
            scaling=self._scaling.get(place),
            outcome=outcome.kind if outcome else None,
            run_id=cpu.run_id if cpu else None,
            measured_at=cpu.measured_at if cpu else None,
            command=self._command(case, subject, ranked.against),
        )

    def _is_from_previous(self, cell: Cell) -> bool:
        before = self._previous[cell.subject]
        return before is not None and cell.change is not None and cell.change.before.subject == before.name

    def _command(self, case: Case, subject: Subject, against: str | None) -> str | None:
        base = next((each for each in self._subjects if each.name == against), None)
        if base is None:
            return None
        ends = " ".join(f"{each.library}@{each.source}" for each in (base, subject))
        return f"kexbench compare {ends} --case '{case.case_id}'"


def _worth_telling(background: Cell | None, cpu: Cell | None) -> Estimate | None:
    """Libraries without threads of their own have some nanoseconds too: what the process does between batches."""
    if not background or not background.estimate or not cpu or not cpu.estimate:
        return None
    tells = background.estimate.value >= _BACKGROUND_SHARE * cpu.estimate.value
    return background.estimate if tells else None


def _alone_label(case: Case) -> str:
    return case.model_copy(update={"threads": 1}).label


def _scaled(efficiency: Estimate, threads: int) -> Estimate:
    low, high = (None if bound is None else bound * threads for bound in (efficiency.low, efficiency.high))
    return Estimate(value=efficiency.value * threads, low=low, high=high, invocations=efficiency.invocations)
