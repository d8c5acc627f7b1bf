"""What a mix of full and resumed handshakes costs each stack, from one run that has both. The verdict on two stacks is
that of a traffic mix (`mix_costs.py`)."""

from collections import defaultdict
from collections.abc import Sequence

from kexbench.analysis.capacity import mix_cost
from kexbench.answers.capacity_words import change_words
from kexbench.answers.missing import NOT_MEASURED
from kexbench.answers.mix_costs import (
    CellsOfStep,
    OfVersion,
    amount_of,
    compared_steps,
    costs_of,
    measured_part,
    mix_change,
)
from kexbench.answers.numbers import Step
from kexbench.answers.ranking import Candidate, InRun, Judgement, comparable, first_steps, rank
from kexbench.answers.stacks_columns import RESUMPTIONS, certificate_of, same_certificate
from kexbench.answers.stacks_shapes import Ranked, StackColumn, Workload, WorkloadCost
from kexbench.answers.stacks_table import StacksTable, between_libraries
from kexbench.answers.stacks_words import column_label, workload_sentence
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Resumption
from kexbench.domain.mixes import SERVER_COSTS, CostOf, MixPart, TrafficMix
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.store.port import SampleRow, SampleStore, Selection

DEFAULT_RESUMED_PERCENT = 40
NO_RUN = "no run measured both the full and the resumed handshake of a stack"


def workload_of(
    store: SampleStore,
    table: StacksTable,
    columns: Sequence[StackColumn],
    certificate: str | None,
    resumed_percent: int,
) -> Workload | None:
    """None if the table has no full handshake. Without the resumed one that it needs, the mix has a reason in place of
    costs. Raises Refusal for a certificate that the table does not have."""
    full = _full(columns, certificate)
    resumed = _resumed(columns, full) if full and resumed_percent else None
    if full is None:
        return None
    name = certificate_of(full.case)
    if resumed_percent and resumed is None:
        reason = f"no handshake that resumes with {full.case.group} was measured"
        missing = [WorkloadCost(standing="missing", reason=reason, subject=each, cpu_ns=None) for each in table.labels]
        return Workload(
            certificate=name,
            resumed_percent=resumed_percent,
            full=full.case,
            resumed=None,
            costs=missing,
            sentence=f"No mix of {name} and {resumed_percent}% resumed connections: {reason}.",
        )
    shares = [(100 - resumed_percent, full), (resumed_percent, resumed)]
    parts = [(share / 100, column) for share, column in shares if share and column]
    mix = TrafficMix(
        connections_per_s=1,
        utilisation=1,
        cores_per_machine=None,
        cost=CostOf.HANDSHAKE,
        parts=tuple(MixPart(share, column.case.id, _case_of(column)) for share, column in parts),
    )
    parts_of_mix = [column for _, column in parts]
    in_run = table.run_of([column.case.id for column in parts_of_mix])
    of_run = _MixInRun(store, table, mix, in_run).costs(parts_of_mix) if in_run else {}
    costs = [of_run.get(name) or _lacking(table, parts_of_mix, name, in_run) for name in table.labels]
    return Workload(
        certificate=name,
        resumed_percent=resumed_percent,
        full=full.case,
        resumed=resumed.case if resumed else None,
        costs=costs,
        sentence=workload_sentence(table.labels, name, resumed_percent, costs),
    )


def _full(columns: Sequence[StackColumn], certificate: str | None) -> StackColumn | None:
    full = [column for column in columns if column.kind == "full"]
    if certificate is None or not full:
        return next(iter(full), None)
    if column := next((each for each in full if same_certificate(certificate, each.case)), None):
        return column
    raise Refusal(
        RefusalReason.UNUSABLE,
        f"no full handshake with the certificate {certificate} was measured there",
        f"measured certificates: {', '.join(certificate_of(each.case) for each in full)}",
    )


def _resumed(columns: Sequence[StackColumn], full: StackColumn) -> StackColumn | None:
    """The way that keeps forward secrecy, before others. With a key share it has the full handshake's group."""
    resumed = [
        column
        for column in columns
        if column.kind == "resumed"
        and (column.case.resumption is not Resumption.PSK_DHE or column.case.group == full.case.group)
    ]
    return min(resumed, key=lambda column: RESUMPTIONS.index(column.case.resumption), default=None)


def _case_of(column: StackColumn) -> Case:
    return Case.model_validate(column.case.model_dump(include=set(Case.model_fields)))


def _lacking(table: StacksTable, columns: Sequence[StackColumn], name: str, in_run: InRun | None) -> WorkloadCost:
    """Of a stack without a number in a part, or without both in the run."""
    for column in columns:
        for cell in column.cells:
            if cell.subject == name and cell.cpu_ns is None:
                reason = f"{column_label(column)}: {cell.reason}"
                return WorkloadCost(standing="missing", reason=reason, subject=name, cpu_ns=None)
    reason = f"not all of it was measured in the same run as {table.label_of(in_run)}" if in_run else NO_RUN
    return WorkloadCost(standing="not compared", reason=reason, subject=name, cpu_ns=None)


class _MixInRun:
    """The mix with each stack of a run."""

    def __init__(self, store: SampleStore, table: StacksTable, mix: TrafficMix, in_run: InRun) -> None:
        self._store = store
        self._table = table
        self._mix = mix
        self._in_run = in_run
        self._here = Selection(
            SERVER_COSTS[mix.cost],
            table.kind.pool,
            table.kind.cpu_model,
            case_ids=tuple(sorted(part.case_id for part in mix.parts)),
            subjects=tuple(sorted(in_run.names)),
            runs=(in_run.run_id,),
        )
        self._measured = self._levels()
        self._costs = {name: costs_of(mix, measured) for name, measured in self._measured.items()}

    def _levels(self) -> dict[str, OfVersion]:
        def read() -> dict[str, OfVersion]:
            rows: dict[str, dict[str, list[SampleRow]]] = defaultdict(lambda: defaultdict(list))
            for row in self._store.samples(self._here):
                rows[row.subject.name][row.case.case_id].append(row)
            return {
                name: {case_id: measured_part(of_case) for case_id, of_case in by_case.items()}
                for name, by_case in rows.items()
            }

        run_id = self._in_run.run_id
        return self._store.kept_value(("levels", self._here), lambda evidence: evidence.of_run(run_id), read)

    def costs(self, columns: Sequence[StackColumn]) -> dict[str, WorkloadCost]:
        shares = [part.share for part in self._mix.parts]
        cpu_ns = {
            name: amount_of(mix_cost(shares, [costs[part.case_id] for part in self._mix.parts]))
            for name, costs in self._costs.items()
        }
        unranked: dict[str, Ranked] = {}
        for column in columns:
            _, others = comparable(self._table.candidates(column.case.id, self._in_run))
            for name, other in others.items():
                reason = f"{column_label(column)}: {other.reason}"
                unranked.setdefault(name, Ranked(standing=other.standing, reason=reason))
        candidates = [Candidate(name, cost.value) for name, cost in cpu_ns.items() if name not in unranked]
        self._changes(first_steps(candidates))  # together, which reads once; later each is at hand
        ranked = unranked | rank(candidates, self._judge)
        return {name: WorkloadCost(**vars(ranked[name]), subject=name, cpu_ns=cpu_ns[name]) for name in cpu_ns}

    def _changes(self, steps: Sequence[Step]) -> dict[Step, CellsOfStep]:
        return compared_steps(self._store, self._here, steps, (self._in_run.run_id, self._in_run.run_id))

    def _judge(self, first: str, second: str) -> Judgement:
        step = (first, second)
        cells = self._changes([step])[step]
        compared = {case_id: cell for (kind, case_id), cell in cells.items() if kind == self._table.kind}
        if any(part.case_id not in compared for part in self._mix.parts):
            return Judgement("unresolved", None, NOT_MEASURED)
        change = mix_change(self._mix.parts, compared, self._measured[first], self._costs[first])
        warnings = [warning for part in self._mix.parts for warning in compared[part.case_id].view.warnings]
        caveats = between_libraries(step, list(dict.fromkeys(warnings)))
        return Judgement(change.verdict, change.move, "" if change.move else change_words(change), caveats)
