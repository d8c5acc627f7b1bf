"""What answers can be filtered by, and which runs are left out of overviews."""

from pydantic import Field

from kexbench.answers.shapes import RunChoice
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.metrics import Metric, MetricGroup, Unit
from kexbench.store.evidence import Evidence
from kexbench.store.port import (
    Store,
)


class MetricView(Frozen):
    metric: Metric
    group: MetricGroup
    title: str = Field(examples=["Server CPU time"])
    unit: Unit
    stored: bool = Field(
        description="whether any number is stored, or was and is withdrawn; many machines have no hardware counters"
    )


class RunsAside(Frozen):
    """Runs with results that are not part of the history of versions."""

    first_looks: int = Field(description="runs with a few short invocations: `kexbench run --quick`")
    newest: list[RunChoice] = Field(description="the last measured of them first")
    shows_first_looks: bool = Field(
        description="whether overviews show them: as long as no other run has results. Otherwise they are left out"
    )
    others: int = Field(
        description="runs of bisections, backfills, searches for causes, interoperability and qualifications, which "
        "overviews always leave out"
    )


class Filters(Frozen):
    """The values to filter by."""

    host_kinds: list[HostKind]
    libraries: list[str]
    metrics: list[MetricView] = Field(description="by group, in the order shown")
    aside: RunsAside


def metric_views(stored: set[str]) -> list[MetricView]:
    """All metrics, in the order shown; `stored` are those with numbers."""
    groups = list(MetricGroup)
    return [
        MetricView(
            metric=metric, group=metric.row.group, title=metric.row.title, unit=metric.unit, stored=metric in stored
        )
        for metric in sorted(Metric, key=lambda metric: groups.index(metric.row.group))
    ]


MOST_FIRST_LOOKS = 100
"""A page tells by them whether its numbers are from first looks. Older ones are found on the page of runs."""


def _runs_aside(store: Store) -> RunsAside:
    evidence = store.evidence()
    measured_at = evidence.measured_at(evidence.asides)
    first_looks = sorted(
        evidence.first_looks & measured_at.keys(), key=lambda run_id: measured_at[run_id], reverse=True
    )
    names = {run.run_id: run.plan.spec_name for run in store.runs_named(first_looks[:MOST_FIRST_LOOKS])}
    return RunsAside(
        first_looks=len(first_looks),
        newest=[
            RunChoice(run_id=run_id, spec_name=names[run_id], measured_at=measured_at[run_id])
            for run_id in first_looks[:MOST_FIRST_LOOKS]
            if run_id in names  # unreadable runs have no name
        ],
        shows_first_looks=bool(first_looks) and evidence.shows_first_looks,
        others=len(measured_at) - len(first_looks),
    )


def filters(store: Store) -> Filters:
    """Host kinds with the newest samples come first."""
    return Filters(
        host_kinds=store.host_kinds(),
        libraries=sorted(store.libraries()),
        metrics=metric_views(store.metrics() | store.withdrawn_metrics()),
        aside=store.kept_value(("runs aside",), Evidence.of_all, lambda: _runs_aside(store)),
    )
