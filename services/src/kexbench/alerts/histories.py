"""Changes of level in the histories that a run continues. They show steps that no single comparison could resolve."""

from collections.abc import Iterator
from typing import cast

from kexbench.alerts.screening import Upgrade
from kexbench.alerts.suspicions import HostCase
from kexbench.answers.levels import changes_of, lines_of
from kexbench.domain.kits import Library
from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleStore, Selection

RECENT = 12
"""Points. Earlier steps were seen by earlier runs, or are older than the alert rule."""


def steps_in_histories(
    store: SampleStore, run: Run, metric: Metric, relevant: float
) -> Iterator[tuple[Upgrade, HostCase]]:
    """Upgrades with more of a metric in a case on a host kind, at the level of alerts. Only histories whose newest
    point is from this run count. None of an exact metric, of which a single comparison resolves everything."""
    if metric.row.exact:
        return
    case_ids = [case.case_id for case in run.plan.cases]
    libraries = tuple({subject.library for subject in run.plan.subjects})
    for kind in store.host_kinds(run.run_id):
        rows = store.levels(Selection(metric, kind.pool, kind.cpu_model, libraries), case_ids)
        harness = store.harness_versions({row.run_id for row in rows})
        for series in lines_of(rows):
            if series[-1].run_id != run.run_id:
                continue
            for step in changes_of(series, harness, strict=True).change_points:
                if step.ratio >= 1 + metric.relevant(relevant) and step.index >= len(series) - RECENT:
                    before, after = series[step.index - 1 : step.index + 1]
                    upgrade = Upgrade.of(cast(Library, after.subject.library), before.subject, after.subject)
                    yield upgrade, (after.case_id, kind)
