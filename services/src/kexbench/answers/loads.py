"""The most connections a second that a web server made, over the numbers of connections at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median

from pydantic import Field

from kexbench.analysis.estimates import estimate_median
from kexbench.answers.shapes import CaseView
from kexbench.domain.cases import Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import Estimate
from kexbench.domain.possible import USUAL_CONCURRENCY
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleRow, SampleStore, Selection

METRICS = (Metric.ELAPSED_NS, Metric.SERVER_CPU_NS, Metric.CLIENT_CPU_NS)
SATURATED = 0.9
"""A side that used so much of its CPU could hardly make more connections."""


class LoadPoint(Frozen):
    concurrency: int = Field(description="connections at once")
    rate: Estimate = Field(description="connections per second of wall time")
    server_share: float = Field(description="of its CPU that the server used")
    client_share: float = Field(description="of its CPU that the client used")


class LoadLine(Frozen):
    """One subject of one case over connections at once."""

    subject: str
    points: list[LoadPoint]
    greatest: LoadPoint = Field(description="the point with the greatest rate")
    remark: str | None = Field(description="why the greatest rate is not the server's limit; null if it is")


class LoadCase(Frozen):
    case: CaseView = Field(description="with the fewest connections at once that its curves have")
    title: str = Field(description="of the case, whatever the connections at once")
    lines: list[LoadLine]


def loads_of(store: SampleStore, selection: Selection, cases: Iterable[Case]) -> list[LoadCase]:
    """Those of the web servers among some cases, kept as long as their results are the same. `selection`: one host
    kind."""
    here = replace(selection, case_ids=tuple(case.case_id for case in cases if case.has_server))
    if not here.case_ids:
        return []
    return list(
        store.kept_value(
            ("loads", here),
            lambda evidence: tuple(map(evidence.of_case, here.case_ids)),
            lambda: load_cases({metric: store.samples(replace(here, metric=metric)) for metric in METRICS}),
        )
    )


def load_cases(rows: Mapping[Metric, Sequence[SampleRow]]) -> list[LoadCase]:
    """All cases with more than one number of connections at once. `rows`: those of METRICS."""
    levels: dict[tuple[Case, str], dict[Metric, list[float]]] = defaultdict(lambda: defaultdict(list))
    for metric in METRICS:
        for row in rows[metric]:
            if row.case.has_server:
                levels[row.case, row.subject.name][metric].append(row.level)
    curves: dict[Case, dict[str, list[LoadPoint]]] = defaultdict(lambda: defaultdict(list))
    fewest: dict[Case, Case] = {}
    for (case, subject), by_metric in sorted(levels.items(), key=lambda item: item[0][0].concurrency):
        if not all(by_metric.get(metric) for metric in METRICS):
            continue  # a hybrid server's clients come in turns, so there is no rate
        whatever = case.model_copy(update={"concurrency": USUAL_CONCURRENCY})
        curves[whatever][subject].append(_point(case.concurrency, by_metric))
        fewest.setdefault(whatever, case)
    return [
        LoadCase(case=CaseView.of(fewest[case]), title=case.label, lines=lines)
        for case, by_subject in curves.items()
        if (lines := [_line(subject, points) for subject, points in by_subject.items() if len(points) > 1])
    ]


def _point(concurrency: int, levels: Mapping[Metric, Sequence[float]]) -> LoadPoint:
    elapsed_ns, server_ns, client_ns = (median(levels[metric]) for metric in METRICS)
    return LoadPoint(
        concurrency=concurrency,
        rate=estimate_median([1e9 / level for level in levels[Metric.ELAPSED_NS]]),
        server_share=server_ns / elapsed_ns,
        client_share=client_ns / elapsed_ns,
    )


def _line(subject: str, points: list[LoadPoint]) -> LoadLine:
    greatest = max(points, key=lambda point: point.rate.value)
    return LoadLine(subject=subject, points=points, greatest=greatest, remark=_remark(greatest))


def _remark(point: LoadPoint) -> str | None:
    shares = f"the server used {point.server_share:.0%} of its CPU, the client {point.client_share:.0%}"
    if point.client_share > point.server_share and point.client_share >= SATURATED:
        return f"The client was the limit: {shares}."
    return None if point.server_share >= SATURATED else f"Not the server's limit: {shares}."
