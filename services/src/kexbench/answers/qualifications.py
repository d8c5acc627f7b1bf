"""The results of A/A runs: a kit and its copy, and relinks of one source."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import Field

from kexbench.analysis.detectable import ALPHA, POWER
from kexbench.analysis.qualification import layout_floor, qualify_case
from kexbench.analysis.rounds import Batches
from kexbench.answers.meaning import host_kind
from kexbench.answers.mixed_pools import MixedPool, mixed_pool
from kexbench.answers.shapes import CaseView
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.libraries import MADE_UP
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.domain.samples import Metric
from kexbench.domain.variants import split_variant
from kexbench.store.evidence import Evidence
from kexbench.store.port import SampleRow, SampleStore, Selection, Store


@dataclass(frozen=True)
class Qualifying:
    """The results of an A/A run in a case of a library."""

    newest: SampleRow
    same: tuple[Batches, Batches]
    relinked: tuple[Batches, ...]

    @property
    def place(self) -> tuple[str, str]:
        return self.newest.subject.library, self.newest.case.case_id


def qualifying(store: SampleStore, kind: HostKind, libraries: Collection[str] = ()) -> Iterator[Qualifying]:
    """The A/A results of each case of some libraries, or of all, newest first. Results of other harness versions do not
    count: their noise may differ."""
    selection = Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, tuple(libraries))
    qualifying_runs = store.qualifying_runs(selection)
    harness = store.harness_versions(qualifying_runs) if qualifying_runs else {}
    runs = tuple(run_id for run_id, version in harness.items() if version == HARNESS_VERSION)
    by_cell: dict[tuple[str, str], dict[str, list[SampleRow]]] = defaultdict(lambda: defaultdict(list))
    for row in store.samples(replace(selection, runs=runs)) if runs else ():
        if row.subject.library not in MADE_UP:  # made-up libraries have settings where others have variants
            by_cell[row.subject.library, row.case.case_id][row.subject.source].append(row)
    for _, sources in sorted(by_cell.items()):
        for copied in _copies(sources):
            newest = max(sources[copied], key=lambda row: row.measured_at)
            by_source = {source: _batches(stored, newest.run_id) for source, stored in sources.items()}
            relinked = tuple(batches for source, batches in by_source.items() if batches and _is_relink(source))
            yield Qualifying(newest, (by_source[_original(copied)], by_source[copied]), relinked)


def layout_floors(store: SampleStore, kind: HostKind, libraries: Collection[str]) -> dict[tuple[str, str], float]:
    """By library and case, the known difference between two builds of one source."""
    key = ("layout floors", kind, frozenset(libraries))
    return store.kept_value(key, Evidence.of_copies, lambda: _layout_floors(store, kind, libraries))


def _layout_floors(store: SampleStore, kind: HostKind, libraries: Collection[str]) -> dict[tuple[str, str], float]:
    floors: dict[tuple[str, str], float] = {}
    for candidate in qualifying(store, kind, libraries):
        floor = layout_floor(candidate.relinked)
        if floor is not None:
            floors.setdefault(candidate.place, floor)
    return floors


def _copies(sources: dict[str, list[SampleRow]]) -> list[str]:
    """The copies whose original was measured too, newest first."""
    copies = [name for name in sources if split_variant(name)[1].copy is not None and _original(name) in sources]
    return sorted(copies, key=lambda name: max(row.measured_at for row in sources[name]), reverse=True)


def _original(copied: str) -> str:
    return "+".join(part for part in copied.split("+") if not part.startswith("copy="))


def _is_relink(source: str) -> bool:
    variant = split_variant(source)[1]
    return variant.relink is not None and variant.copy is None and variant.burn is None


def _batches(rows: list[SampleRow], run_id: str) -> Batches:
    return {row.unit: row.values for row in rows if row.run_id == run_id}


class QualificationRow(Frozen):
    """The result of an A/A run for one case on one host kind. Shares: 0.004 is 0.4%."""

    library: str
    case: CaseView
    run_id: str
    measured_at: datetime
    invocations: int
    cv: float
    pair_sd: float = Field(description="of paired log ratios; n invocations have the standard error pair_sd / sqrt(n)")
    group: int = Field(description="invocations assumed for smallest_detectable_change and false_positives")
    smallest_detectable_change: float
    false_positives: Estimate | None = Field(description="share of comparisons without a change that would show one")
    relinks: int
    layout_floor: float | None = Field(description="null with fewer than three relinks")
    cannot_resolve_below: float


class Qualifications(Frozen):
    """Newest first by library and case; empty until `kexbench qualify` ran on this host kind."""

    host_kind: HostKind | None
    mixed_pool: MixedPool | None = Field(
        description="set if the pool's nodes, as jobs of the last week reported them, are not comparable"
    )
    alpha: float
    power: float
    rows: list[QualificationRow]


GROUP = 10
"""Invocations of a usual comparison, the default for qualifications."""


def qualified(
    store: SampleStore, kind: HostKind, invocations: int, libraries: Collection[str] = ()
) -> list[QualificationRow]:
    """One row for each library and case, for comparisons with the given number of invocations."""

    def qualify() -> list[QualificationRow]:
        rows: dict[tuple[str, str], QualificationRow] = {}
        for candidate in qualifying(store, HostKind(kind.pool, kind.cpu_model), libraries):
            if candidate.place not in rows and (row := _row(candidate, invocations)):
                rows[candidate.place] = row
        return list(rows.values())

    key = ("qualified", kind.pool, kind.cpu_model, invocations, frozenset(libraries))
    return list(store.kept_value(key, Evidence.of_copies, qualify))


def _row(candidate: Qualifying, group: int) -> QualificationRow | None:
    newest = candidate.newest
    result = qualify_case(newest.case.case_id, candidate.same, candidate.relinked, group=group, seed=0)
    if result is None:
        return None
    return QualificationRow(
        library=newest.subject.library,
        case=CaseView.of(newest.case),
        run_id=newest.run_id,
        measured_at=newest.measured_at,
        invocations=result.invocations,
        cv=result.cv,
        pair_sd=result.pair_sd,
        group=result.group,
        smallest_detectable_change=result.smallest_detectable_change,
        false_positives=result.false_positives.rate if result.false_positives else None,
        relinks=result.relinks,
        layout_floor=result.layout_floor,
        cannot_resolve_below=result.cannot_resolve_below,
    )


def qualifications(
    store: Store, pool: str | None = None, cpu_model: str | None = None, invocations: int = GROUP
) -> Qualifications:
    """Of the newest A/A run of each case on a host kind, for comparisons with a number of invocations."""
    kind = host_kind(store, pool, cpu_model)
    rows = qualified(store, kind, invocations) if kind else []
    mixed = mixed_pool(kind.pool, store.nodes(kind.pool).items()) if kind else None
    return Qualifications(host_kind=kind, mixed_pool=mixed, alpha=ALPHA, power=POWER, rows=rows)
