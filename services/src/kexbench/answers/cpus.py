"""One case on all CPUs: the newest version of each library, its cost relative to a chosen CPU, and its gain there.

Costs of two machines are never judged: the machines were not measured in turns, so their ratio has an interval and no
verdict. A ratio is given only for the same version and the same work.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from kexbench.analysis.estimates import estimate_median
from kexbench.answers.cells import Gathered, gather
from kexbench.answers.change import Change, change_of
from kexbench.answers.comparing import DIFFERENT_PROFILE, Numbers, chosen, unjudged_ratio, unlike
from kexbench.answers.judging import judged_steps
from kexbench.answers.numbers import Step
from kexbench.answers.shapes import CaseChoice, CaseView
from kexbench.answers.subjects import Ends, cases_in_order, version_order
from kexbench.domain.cpu_features import accelerating, reported_features
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostFacts, HostKind, kind_of
from kexbench.domain.instruments import Instrument
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.samples import Metric, Negotiated
from kexbench.domain.subjects import Subject
from kexbench.store.port import ProfileRow, Selection, Store

Relation = Literal["base", "compared", "other version", "other work", "few invocations"]


class CpuRow(Frozen):
    """The newest version of a library on a host kind."""

    host_kind: HostKind
    subject: Subject
    estimate: Estimate
    run_id: str
    measured_at: datetime
    relation: Relation = Field(
        description="to the same version on the chosen CPU. `other version`: it was not measured there; `other work`: "
        "the handshakes or the methods differ"
    )
    relative: Ratio | None = Field(description="cost relative to the chosen CPU, unpaired and not judged")
    cautions: list[str] = Field(description="why the ratio needs care, or why there is none")
    change: Change | None = Field(description="from the previous version of the library, on this CPU")
    cpu_features: list[str] = Field(description="of the CPU, those that TLS libraries have code for")
    used_features: list[str] | None = Field(
        description="by which the library chose its code, as it reported when its instructions were counted on this "
        "CPU; null if it was never asked"
    )


@dataclass(frozen=True)
class _OnKind:
    kind: HostKind
    cells: list[Gathered]

    def newest(self) -> list[Gathered]:
        """Of each library."""
        newest: dict[str, Gathered] = {}
        for cell in sorted(self.cells, key=lambda cell: version_order(cell.subject)):
            newest[cell.subject.library] = cell
        return list(newest.values())

    def same_version(self, cell: Gathered) -> Gathered | None:
        """Preferably of the same build."""
        same = [other for other in self.cells if _named(other) == _named(cell)]
        return max(same, key=lambda other: other.subject.build_profile == cell.subject.build_profile, default=None)


def cpu_rows(store: Store, metric: Metric, case_id: str, libraries: tuple[str, ...], base: HostKind) -> list[CpuRow]:
    """By library, then the host kinds in the order of the store."""
    placed = store.kept_value(
        ("cpus", metric, case_id, libraries, base),
        lambda evidence: (evidence.of_case(case_id), tuple(evidence.host_kinds())),
        lambda: _placed(store, metric, case_id, libraries, base),
    )
    judged = judged_steps(store, {step for _, step, _ in placed if step}, metrics={"both": metric})
    rows = []
    for row, step, ends in placed:
        cell = judged[step].of(case_id, row.host_kind) if step else None
        rows.append(row.model_copy(update={"change": change_of(ends, *cell)}) if ends and cell else row)
    return rows


def _counted(store: Store, subjects: Collection[str], case_id: str) -> list[ProfileRow]:
    """Instructions: they depend on the code that a library chose."""
    return store.profiles(subjects, Instrument.INSTRUCTIONS, case_id)


def _placed(
    store: Store, metric: Metric, case_id: str, libraries: tuple[str, ...], base: HostKind
) -> list[tuple[CpuRow, Step | None, Ends | None]]:
    """The rows without their changes, each with the step that its change is of, and both of its ends."""
    places = [_OnKind(kind, _cells(store, metric, case_id, libraries, kind)) for kind in store.host_kinds()]
    on_base = next((place for place in places if place.kind == base), None)
    rows = [(place, cell) for place in places for cell in place.newest()]
    run_ids = {cell.run_id for place in places for cell in place.cells}
    numbers = _Numbers(store.harness_versions(run_ids), {}) if run_ids else _Numbers({}, {})
    if any(cell.case.leaves_a_choice for _, cell in rows):
        numbers = _Numbers(numbers.harness, chosen(store.negotiated(run_ids)))
    facts = _Facts(store, _counted(store, {cell.subject.name for _, cell in rows}, case_id) if rows else [])
    result = []
    for place, cell in sorted(rows, key=lambda row: row[1].subject.library):
        assert cell.measured_at is not None
        relation, relative, cautions = _relation(place, cell, on_base, numbers)
        host = facts.of(cell.run_id, place.kind)
        row = CpuRow(
            host_kind=place.kind,
            subject=cell.subject,
            estimate=estimate_median(cell.levels),
            run_id=cell.run_id,
            measured_at=cell.measured_at,
            relation=relation,
            relative=relative,
            cautions=cautions,
            change=None,
            cpu_features=accelerating(host.cpu_flags) if host else [],
            used_features=facts.reported(cell, place.kind),
        )
        result.append((row, cell.step, cell.ends))
    return result


def _cells(store: Store, metric: Metric, case_id: str, libraries: tuple[str, ...], kind: HostKind) -> list[Gathered]:
    here = Selection(metric, kind.pool, kind.cpu_model, libraries, (case_id,))
    return store.kept_value(
        ("cells on a CPU", here),
        lambda evidence: evidence.of_case_on(case_id, kind.pool, kind.cpu_model),
        lambda: gather(store.samples(here), ()),
    )


def _named(cell: Gathered) -> tuple[str, str, str]:
    return cell.subject.library, cell.subject.version, cell.subject.source


@dataclass(frozen=True)
class _Numbers:
    """The conditions of cells, as comparisons need them."""

    harness: Mapping[str, int]
    negotiated: Mapping[tuple[str, str, str], Negotiated]

    def of(self, cell: Gathered) -> Numbers:
        reference = f"{cell.subject.library}@{cell.subject.source}"
        return Numbers(
            cell.subject,
            cell.run_id,
            cell.batches,
            cell.levels,
            negotiated=self.negotiated.get((cell.run_id, cell.case.case_id, reference)),
            harness_version=self.harness.get(cell.run_id),
        )


def _relation(
    place: _OnKind, cell: Gathered, base: _OnKind | None, numbers: _Numbers
) -> tuple[Relation, Ratio | None, list[str]]:
    if base is not None and place.kind == base.kind:
        return "base", None, []
    other = base.same_version(cell) if base else None
    if other is None:
        return "other version", None, []
    if reasons := unlike(numbers.of(cell), numbers.of(other)):
        return "other work", None, reasons
    ratio = unjudged_ratio(numbers.of(cell), numbers.of(other))
    if ratio is None:
        return "few invocations", None, []
    cautions = [] if cell.subject.build_profile == other.subject.build_profile else [DIFFERENT_PROFILE]
    return "compared", ratio, cautions


class _Facts:
    """The machines of runs, each run read once, and what libraries reported when they were profiled in the case."""

    def __init__(self, store: Store, profiles: Iterable[ProfileRow]) -> None:
        self._store = store
        self._profiles: dict[str, list[ProfileRow]] = defaultdict(list)
        for row in profiles:
            self._profiles[row.subject.name].append(row)
        self._hosts: dict[str, list[HostFacts]] = {}

    def of(self, run_id: str, kind: HostKind) -> HostFacts | None:
        """A machine of a run that is of a host kind."""
        return next((host for host in self._of_run(run_id) if kind_of(host) == kind.cpu_model), None)

    def _of_run(self, run_id: str) -> list[HostFacts]:
        if run_id not in self._hosts:
            run = self._store.run(run_id)
            own = [run.host] if run and run.host else []
            self._hosts[run_id] = own or [attempt.host for attempt in self._store.attempts(run_id)]
        return self._hosts[run_id]

    def reported(self, cell: Gathered, kind: HostKind) -> list[str] | None:
        for row in self._profiles.get(cell.subject.name, ()):
            if row.profile.native_cpu_features is not None and self.of(row.run_id, kind):
                return reported_features(row.profile.native_cpu_features)
        return None


class Cpus(Frozen):
    """A case on all CPUs."""

    choices: list[CaseChoice] = Field(description="all cases, in the order of the matrix")
    case: CaseView | None = Field(description="null if nothing is stored")
    metric: Metric
    base: HostKind | None = Field(description="the CPU that the others are relative to")
    host_kinds: list[HostKind] = Field(description="those that measured the case, the last one first")
    rows: list[CpuRow] = Field(description="by library, then host kind")


def on_all_cpus(
    store: Store,
    metric: Metric,
    case_id: str | None = None,
    libraries: Sequence[str] = (),
    pool: str | None = None,
    cpu_model: str | None = None,
) -> Cpus:
    """A case, or the first one, with the newest version of each library. `pool` and `cpu_model`: of the CPU that the
    others are relative to; without them, the one measured last. Raises Refusal."""
    measured = store.measured_cases(Selection(metric, libraries=tuple(libraries)))
    cases = cases_in_order(measured)
    case = next((case for case in cases if case_id in (None, case.case_id)), None)
    if case is None and case_id is not None:
        raise Refusal(RefusalReason.MISSING, f"no samples of case {case_id} are stored", "choose another case")
    kinds = next((row.host_kinds for row in measured if row.case == case), ())
    base = next((kind for kind in kinds if pool in (None, kind.pool) and cpu_model in (None, kind.cpu_model)), None)
    return Cpus(
        choices=[CaseChoice(id=case.case_id, title=case.label) for case in cases],
        case=CaseView.of(case) if case else None,
        metric=metric,
        base=base,
        host_kinds=list(kinds),
        rows=cpu_rows(store, metric, case.case_id, tuple(libraries), base) if case and base else [],
    )
