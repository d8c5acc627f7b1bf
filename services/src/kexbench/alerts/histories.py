"""Steps that no comparison of two versions was sure of, and that the versions measured since show: changes of level in
the histories that a run went on with."""

from collections.abc import Iterator
from typing import cast

from kexbench.alerts.judging import HostCase
from kexbench.alerts.screening import Upgrade
from kexbench.comparison.levels import changes_of, lines_of
from kexbench.domain.kits import Library
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleStore, Selection

RECENT = 12
"""A step so many points back was seen by the runs behind it, or was there before anybody asked for alerts."""


def steps_in_histories(store: SampleStore, run: Run, relevant: float) -> Iterator[tuple[Upgrade, HostCase]]:
    """Upgrades that cost relevantly more in a case on a host kind, at the level of alerts, as far as the newest point
    is of this run."""
    case_ids = [case.case_id for case in run.plan.cases]
    libraries = tuple({subject.library for subject in run.plan.subjects})
    for kind in store.host_kinds(run.run_id):
        rows = store.levels(Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, libraries), case_ids)
        harness = store.harness_versions({row.run_id for row in rows})
        for line in lines_of(rows):
            if line[-1].run_id != run.run_id:
                continue
            for step in changes_of(line, harness, strict=True).found:
                if step.ratio >= 1 + relevant and step.index >= len(line) - RECENT:
                    before, after = line[step.index - 1 : step.index + 1]
                    upgrade = Upgrade.of(cast(Library, after.subject.library), before.subject, after.subject)
                    yield upgrade, (after.case_id, kind.pool, kind.cpu_model)
