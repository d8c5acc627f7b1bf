"""Cells from rows: which numbers stand together, what each is compared with, and the warnings that travel along."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kexbench.analysis.estimates import compare, estimate_median
from kexbench.analysis.rounds import Batches
from kexbench.analysis.sentinel import through_sentinel
from kexbench.api.models import Cell, Change, Estimate, OutcomeView, Ratio, SubjectView
from kexbench.domain.cases import Case, CpuFeatures
from kexbench.domain.dimensions import KeyExchange, Protocol, Resumption
from kexbench.domain.samples import Negotiated
from kexbench.store.port import NegotiatedRow, OutcomeRow, SampleRow, SubjectRow

DIFFERENT_PROFILE = "different build profile"
DIFFERENT_RUN = "measured in different runs"
DIFFERENT_INVOCATIONS = "not interleaved"
THROUGH_SENTINEL = "measured in different runs, compared through the sentinel"
NEGOTIATED_FIELDS = ("protocol", "cipher", "group", "signature")
Sentinels = Mapping[tuple[str, str], "SentinelBatches"]
"""By run and case."""
Chosen = Mapping[tuple[str, str, str], Negotiated]
"""What the library chose, by run, case and the subject's reference."""


@dataclass(frozen=True)
class SentinelBatches:
    """What the frozen subject cost in one run and case, by invocation."""

    kit_id: str
    batches: Batches


def sentinels(rows: Iterable[SampleRow]) -> dict[tuple[str, str], SentinelBatches]:
    found: dict[tuple[str, str], tuple[str, dict[str, Sequence[float]]]] = {}
    for row in rows:
        found.setdefault((row.run_id, row.case.case_id), (row.subject.kit_id, {}))[1][row.unit] = row.values
    return {key: SentinelBatches(kit_id, batches) for key, (kit_id, batches) in found.items()}


def chosen(rows: Iterable[NegotiatedRow]) -> dict[tuple[str, str, str], Negotiated]:
    return {(row.run_id, row.case_id, row.reference): row.negotiated for row in rows}


def subject_name(subject: SubjectRow) -> str:
    """Names what may stand in one column: a library at a version, from a source, with a build profile."""
    return f"{subject.library}@{subject.version}~{subject.source}~{subject.build_profile}"


def subject_view(subject: SubjectRow) -> SubjectView:
    return SubjectView(subject=subject_name(subject), **vars(subject))


@dataclass
class _Gathered:
    """All rows of one cell."""

    case: Case
    subject: SubjectRow
    run_id: str = ""
    measured_at: datetime | None = None
    medians: list[float] = field(default_factory=list)
    batches: dict[str, Sequence[float]] = field(default_factory=dict)
    outcome: OutcomeRow | None = None
    sentinel: SentinelBatches | None = None
    negotiated: Negotiated | None = None


def subjects_in_order(rows: Iterable[SampleRow | OutcomeRow]) -> list[SubjectView]:
    """Each subject once, by library, then version; of kits that share a name the newest measured."""
    newest: dict[str, SampleRow | OutcomeRow] = {}
    for row in rows:
        known = newest.get(subject_name(row.subject))
        if known is None or known.measured_at < row.measured_at:
            newest[subject_name(row.subject)] = row
    ordered = sorted(newest.values(), key=lambda row: _version_order(row.subject))
    return [subject_view(row.subject) for row in ordered]


def cases_in_order(rows: Iterable[SampleRow | OutcomeRow]) -> list[Case]:
    """Each case once: by protocol, key exchange, then the numbers that a person would sort by; variations of a case
    stand behind it."""
    return sorted({row.case.case_id: row.case for row in rows}.values(), key=_case_order)


def _case_order(case: Case) -> tuple[int | str, ...]:
    return (
        list(Protocol).index(case.protocol),
        list(KeyExchange).index(case.key_exchange),
        case.rsa_bits,
        case.curve,
        len(case.group),
        case.group,
        case.cipher,
        list(CpuFeatures).index(case.cpu_features),
        case.fips,
        case.chain_length,
        case.client_authentication,
        case.ocsp_bytes,
        case.hello_retry,
        list(Resumption).index(case.resumption),
        case.early_data_bytes,
        case.anti_replay,
        case.threads,
        case.peer,
    )


def cells(
    samples: Iterable[SampleRow], outcomes: Iterable[OutcomeRow], frozen: Sentinels, negotiated: Chosen
) -> list[Cell]:
    """One cell for every case and subject that has a number or a reason for none."""
    gathered = _gather(samples, outcomes)
    for cell in gathered.values():
        cell.sentinel = frozen.get((cell.run_id, cell.case.case_id))
        if cell.case.protocol is Protocol.DEFAULT:
            reference = f"{cell.subject.library}@{cell.subject.source}"
            cell.negotiated = negotiated.get((cell.run_id, cell.case.case_id, reference))
    by_case: dict[str, list[_Gathered]] = defaultdict(list)
    for cell in gathered.values():
        by_case[cell.case.case_id].append(cell)
    return [_cell(cell, _previous(cell, by_case[cell.case.case_id])) for cell in gathered.values()]


def _gather(samples: Iterable[SampleRow], outcomes: Iterable[OutcomeRow]) -> dict[tuple[str, str], _Gathered]:
    gathered: dict[tuple[str, str], _Gathered] = {}
    for row in samples:
        key = (row.case.case_id, subject_name(row.subject))
        cell = gathered.setdefault(key, _Gathered(row.case, row.subject))
        cell.run_id = row.run_id
        cell.measured_at = max(row.measured_at, cell.measured_at or row.measured_at)
        cell.medians.append(row.median)
        cell.batches[row.unit] = row.values
    for outcome in outcomes:
        key = (outcome.case.case_id, subject_name(outcome.subject))
        cell = gathered.setdefault(key, _Gathered(outcome.case, outcome.subject))
        if cell.medians and cell.run_id != outcome.run_id:
            if outcome.measured_at <= (cell.measured_at or outcome.measured_at):
                continue  # an older run's trouble says nothing about the newest numbers
            cell.outcome = cell.outcome or outcome  # a newer run's does, beside the numbers that it lacks
            continue
        if cell.outcome is None:
            cell.outcome = outcome
            cell.run_id = outcome.run_id
            cell.measured_at = max(outcome.measured_at, cell.measured_at or outcome.measured_at)
    return gathered


def _previous(cell: _Gathered, others: list[_Gathered]) -> _Gathered | None:
    """The version before it of the same library that has numbers, of the same build profile if there is one."""
    older = [
        other
        for other in others
        if other.medians
        and other.subject.library == cell.subject.library
        and other.subject.version_key < cell.subject.version_key
    ]
    alike = [other for other in older if other.subject.build_profile == cell.subject.build_profile]
    return max(alike or older, key=lambda other: _version_order(other.subject), default=None)


def _cell(cell: _Gathered, previous: _Gathered | None) -> Cell:
    assert cell.measured_at is not None
    estimate = change = None
    if cell.medians:
        found = estimate_median(cell.medians)
        estimate = Estimate(**vars(found))
        change = _change(cell, previous) if previous else None
    outcome = None
    if cell.outcome:
        row = cell.outcome
        outcome = OutcomeView(kind=row.kind, reason=row.reason, detail=row.detail, invocations=row.invocations)
    return Cell(
        case_id=cell.case.case_id,
        subject=subject_name(cell.subject),
        estimate=estimate,
        change=change,
        outcome=outcome,
        to_sentinel=_to_sentinel(cell),
        negotiated=cell.negotiated,
        run_id=cell.run_id,
        measured_at=cell.measured_at,
    )


def _to_sentinel(cell: _Gathered) -> Ratio | None:
    found = compare(cell.batches, cell.sentinel.batches) if cell.sentinel and cell.batches else None
    return Ratio(ratio=found.ratio, low=found.low, high=found.high) if found else None


def _change(cell: _Gathered, previous: _Gathered) -> Change | None:
    """Invocations of different runs are never paired, whatever they are numbered; what a run's machine did is
    taken out by the sentinel where both runs have the same one."""
    through = _common_sentinel(cell, previous)
    found = compare(_batches(cell, through=through), _batches(previous, through=through))
    if found is None:
        return None
    warnings = []
    if previous.subject.build_profile != cell.subject.build_profile:
        warnings.append(DIFFERENT_PROFILE)
    if previous.run_id != cell.run_id:
        warnings.append(THROUGH_SENTINEL if through else DIFFERENT_RUN)
    elif not found.paired:
        warnings.append(DIFFERENT_INVOCATIONS)
    if unlike := _chose_otherwise(cell.negotiated, previous.negotiated):
        warnings.append(unlike)
    return Change(against=subject_name(previous.subject), warnings=warnings, **vars(found))


def _common_sentinel(cell: _Gathered, previous: _Gathered) -> bool:
    """Whether two runs had the same sentinel in a case; within a run the pairs themselves are better."""
    if cell.run_id == previous.run_id or cell.sentinel is None or previous.sentinel is None:
        return False
    return cell.sentinel.kit_id == previous.sentinel.kit_id


def _batches(cell: _Gathered, *, through: bool) -> Batches:
    batches: Batches = cell.batches
    if through and cell.sentinel:
        batches = through_sentinel(cell.batches, cell.sentinel.batches)
    return {f"{cell.run_id}/{unit}": values for unit, values in batches.items()}


def _chose_otherwise(cell: Negotiated | None, previous: Negotiated | None) -> str | None:
    """`negotiated differently: group X25519MLKEM768 instead of X25519`, or None."""
    if cell is None or previous is None:
        return None
    words = [
        f"{name} {getattr(cell, name)} instead of {getattr(previous, name)}"
        for name in NEGOTIATED_FIELDS
        if getattr(cell, name) != getattr(previous, name)
    ]
    return f"negotiated differently: {', '.join(words)}" if words else None


def _version_order(subject: SubjectRow) -> tuple[str, ...]:
    return (subject.library, subject.version_key, subject.build_profile, subject.source)
