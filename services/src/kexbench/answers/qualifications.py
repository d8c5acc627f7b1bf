"""The results of A/A runs: a kit and its copy, and relinks of one source."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from kexbench.analysis.qualification import layout_floor
from kexbench.analysis.rounds import Batches
from kexbench.domain.libraries import MADE_UP
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.domain.samples import Metric
from kexbench.domain.variants import split_variant
from kexbench.store.evidence import Evidence
from kexbench.store.port import HostKindRow, SampleRow, SampleStore, Selection


@dataclass(frozen=True)
class Qualifying:
    """The results of an A/A run in a case of a library."""

    newest: SampleRow
    same: tuple[Batches, Batches]
    relinked: tuple[Batches, ...]

    @property
    def place(self) -> tuple[str, str]:
        return self.newest.subject.library, self.newest.case.case_id


def qualifying(store: SampleStore, kind: HostKindRow, libraries: Collection[str] = ()) -> Iterator[Qualifying]:
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


def layout_floors(store: SampleStore, kind: HostKindRow, libraries: Collection[str]) -> dict[tuple[str, str], float]:
    """By library and case, the known difference between two builds of one source."""
    key = ("layout floors", kind, frozenset(libraries))
    return store.kept_value(key, Evidence.of_copies, lambda: _layout_floors(store, kind, libraries))


def _layout_floors(store: SampleStore, kind: HostKindRow, libraries: Collection[str]) -> dict[tuple[str, str], float]:
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
