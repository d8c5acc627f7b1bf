"""Steps that no comparison of two versions was sure of, and that the versions measured since show: changes of level in
the histories that a run went on with."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from kexbench.analysis.changepoints import change_points
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.api.judging import HostCase
from kexbench.api.screening import Upgrade
from kexbench.domain.kits import Library
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.port import LevelRow, Selection, Store

RECENT = 12
"""A step so many points back was seen by the runs behind it, or was there before anybody asked for alerts."""
_ERROR_OF_A_MEDIAN = float(np.sqrt(np.pi / 2))
"""Of normal noise, in standard errors of the mean."""


def steps_in_histories(store: Store, run: Run, relevant: float) -> Iterator[tuple[Upgrade, HostCase]]:
    """Upgrades that cost relevantly more in a case on a host kind, at the level of alerts, as far as the newest point
    is of this run."""
    case_ids = [case.case_id for case in run.plan.cases]
    libraries = tuple({subject.library for subject in run.plan.subjects})
    for kind in store.host_kinds(run.run_id):
        rows = store.levels(Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, libraries), case_ids)
        harness = store.harness_versions({row.run_id for row in rows})
        for line in _lines(rows):
            if line[-1].run_id != run.run_id:
                continue
            for before, after in _steps(line, harness, relevant):
                upgrade = Upgrade.of(cast(Library, after.subject.library), before.subject, after.subject)
                yield upgrade, (after.case_id, kind.pool, kind.cpu_model)


def _lines(rows: Sequence[LevelRow]) -> list[list[LevelRow]]:
    """Rows arrive in version order, so lines keep it."""
    found: dict[tuple[str, str, str], list[LevelRow]] = defaultdict(list)
    for row in rows:
        found[row.case_id, row.subject.library, row.subject.build_profile].append(row)
    return list(found.values())


def _steps(
    line: Sequence[LevelRow], harness: Mapping[str, int], relevant: float
) -> Iterator[tuple[LevelRow, LevelRow]]:
    if min(row.level for row in line) <= 0:
        return
    replicated = all(row.invocations >= MIN_COMPARED_INVOCATIONS for row in line)
    errors = [_ERROR_OF_A_MEDIAN * row.spread / row.invocations**0.5 for row in line] if replicated else None
    resets = [place for place, pair in enumerate(pairwise(line), start=1) if not _alike(*pair, harness)]
    for step in change_points([row.level for row in line], errors=errors, resets=resets, strict=True):
        if step.ratio >= 1 + relevant and step.index >= len(line) - RECENT:
            yield line[step.index - 1], line[step.index]


def _alike(first: LevelRow, second: LevelRow, harness: Mapping[str, int]) -> bool:
    """Whether two points were measured in the same way and, at least in part, on machines alike in every fact."""
    same_way = harness.get(first.run_id) == harness.get(second.run_id)
    return same_way and not first.host_ids.isdisjoint(second.host_ids)
