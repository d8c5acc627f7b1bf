"""Whether a machine became slower or faster between two runs, measured by their frozen subject."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from kexbench.analysis.sentinel import HostMove, host_moves
from kexbench.domain.hosts import HostKind
from kexbench.domain.plans import SENTINEL
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleRow, SampleStore, Selection


class HostMoveSince(HostMove):
    """How the sentinel's cost changed since an earlier run: a change of the machine, not of a library."""

    since_run: str
    since: datetime


def moved_since(store: SampleStore, run: Run, pool: str, cpu_model: str) -> HostMoveSince | None:
    """How far a host kind moved since the newest earlier run with the same frozen subject. None without such a run, or
    with too few common cases."""
    kit = run.kits.get(SENTINEL)
    if kit is None:
        return None
    kind = HostKind(pool, cpu_model)
    return store.kept_value(
        ("host move", run.run_id, kind),
        lambda evidence: (evidence.of_run(run.run_id), evidence.of_sentinels((pool, cpu_model), run.created_at)),
        lambda: _moved_since(store, run, kind, kit.kit_id),
    )


def _moved_since(store: SampleStore, run: Run, kind: HostKind, kit_id: str) -> HostMoveSince | None:
    here = Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, sentinel=True)
    later = store.samples(replace(here, run_id=run.run_id))
    earlier = [row for row in store.samples(replace(here, before=run.created_at)) if row.subject.kit_id == kit_id]
    move = host_moves(_by_case(earlier), _by_case(later))
    if move is None:
        return None
    since = max(earlier, key=lambda row: row.measured_at)
    return HostMoveSince(**vars(move), since_run=since.run_id, since=since.measured_at)


def _by_case(rows: Iterable[SampleRow]) -> dict[str, list[float]]:
    levels: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        levels[row.case.case_id].append(row.level)
    return levels
