"""What a mix of full and resumed handshakes costs each stack.

The cost of a mix and its interval, and the verdict on two stacks, are those of a traffic mix: the delta method over the
two cells (`analysis.capacity`, after Casella & Berger, Statistical Inference, section 5.5.4).
"""

from collections.abc import Sequence

from kexbench.answers.capacity import mix_report
from kexbench.answers.capacity_shapes import CpuNeed
from kexbench.answers.capacity_words import change_words
from kexbench.answers.missing import NOT_MEASURED
from kexbench.answers.ranking import Candidate, Judgement, rank
from kexbench.answers.stacks_columns import RESUMPTIONS, certificate_of, same_certificate
from kexbench.answers.stacks_shapes import RANKED, Ranked, StackColumn, Workload, WorkloadCost
from kexbench.answers.stacks_words import column_label, workload_sentence
from kexbench.answers.subjects import end_of
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Resumption
from kexbench.domain.hosts import HostKind
from kexbench.domain.mixes import CostOf, MixPart, TrafficMix
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.subjects import Subject
from kexbench.store.port import SampleStore

DEFAULT_RESUMED_PERCENT = 40


def workload_of(
    store: SampleStore,
    kind: HostKind,
    subjects: Sequence[Subject],
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
    labels = {subject.name: end_of(subject).label for subject in subjects}
    name = certificate_of(full.case)
    if resumed_percent and resumed is None:
        reason = f"no handshake that resumes with {full.case.group} was measured"
        missing = [WorkloadCost(standing="missing", reason=reason, subject=each, cpu_ns=None) for each in labels]
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
    costs = _Mixes(store, kind, mix).costs(subjects, [column for _, column in parts])
    return Workload(
        certificate=name,
        resumed_percent=resumed_percent,
        full=full.case,
        resumed=resumed.case if resumed else None,
        costs=costs,
        sentence=workload_sentence(labels, name, resumed_percent, costs),
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


class _Mixes:
    """The mix with each stack, on one machine kind."""

    def __init__(self, store: SampleStore, kind: HostKind, mix: TrafficMix) -> None:
        self._store = store
        self._kind = kind
        self._mix = mix

    def costs(self, subjects: Sequence[Subject], columns: Sequence[StackColumn]) -> list[WorkloadCost]:
        by_name = {subject.name: subject for subject in subjects}
        cells = {
            name: [cell for column in columns for cell in column.cells if cell.subject == name] for name in by_name
        }
        needs = {
            name: self._need(subject) for name, subject in by_name.items() if all(each.cpu_ns for each in cells[name])
        }
        unranked = {name: reason for name in by_name if (reason := _unranked(columns, name))}
        candidates = [
            Candidate(
                name,
                end_of(by_name[name]).label,
                need.versions[0].need.cpu_ns.value,
                max(cell.measured_at for cell in cells[name] if cell.measured_at),
            )
            for name, need in needs.items()
            if need and name not in unranked
        ]

        def judge(first: str, second: str) -> Judgement:
            need = self._need(by_name[first], by_name[second])
            change = need.change if need else None
            if change is None:
                return Judgement("unresolved", None, NOT_MEASURED)
            paired = all(part.paired for part in need.part_changes) if need else False
            return Judgement(change.verdict, change.move, "" if change.move else change_words(change), paired)

        # All of them are ranked in each column, so a run has any two.
        ranked = unranked | rank(candidates, lambda *_: True, judge)
        return [
            WorkloadCost(
                **vars(ranked.get(name, Ranked(standing="missing", reason=NOT_MEASURED))),
                subject=name,
                cpu_ns=need.versions[0].need.cpu_ns if (need := needs.get(name)) else None,
            )
            for name in by_name
        ]

    def _need(self, subject: Subject, other: Subject | None = None) -> CpuNeed | None:
        """Of one stack, or of two that are compared. None if one lacks a part on the machine kind."""

        def compute() -> CpuNeed | None:
            report = mix_report(self._store, self._mix, subject, other, self._kind.pool, self._kind.cpu_model)
            return next((cpu for cpu in report.cpus if cpu.host_kind == self._kind), None)

        names = [each.name for each in (subject, other) if each]
        return self._store.kept_value(
            ("mix of stacks", subject, other, self._kind, self._mix),
            lambda evidence: (evidence.of_subjects(names), evidence.of_copies()),
            compute,
        )


def _unranked(columns: Sequence[StackColumn], name: str) -> Ranked | None:
    """Why a stack is not ranked in a column that the mix needs."""
    for column in columns:
        for cell in column.cells:
            if cell.subject == name and cell.standing not in RANKED:
                return Ranked(standing=cell.standing, reason=f"{column_label(column)}: {cell.reason}")
    return None
