"""The published figures of a run's spec beside those that the run measured, and the articles that specs repeat."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import median

from kexbench.analysis.reference import MeasuredRatio, MeasuredRow, Swap, measured_ratios, measured_rows, swaps
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import subjects_in_order
from kexbench.api.answers import KeptRoute
from kexbench.api.dependencies import TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import (
    ArticleRun,
    Articles,
    ArticleView,
    HostKind,
    ReferenceColumn,
    ReferenceRatioColumn,
    ReferenceRatiosView,
    ReferenceRatioView,
    ReferenceRowView,
    ReferenceTableView,
    ReferenceView,
    SideCosts,
    SwapView,
)
from kexbench.domain.articles import ARTICLES, Article
from kexbench.domain.plans import ReferenceTable
from kexbench.domain.runs import Purpose, Run
from kexbench.domain.samples import Metric, Side
from kexbench.domain.upgrades import SIDES
from kexbench.store.port import SampleStore, Selection, Store

_RUNS_TRIED = 20
"""The newest runs of a spec among which a finished one is looked for."""

router = api_router(route_class=KeptRoute, tags=["reading"])

_Levels = dict[str, dict[str, list[float]]]
"""The level of each invocation, by subject and case id."""


@router.get("/articles", operation_id="articles")
def articles(store: TheStore) -> Articles:
    """The articles whose measurements specs of this project repeat, each with the newest finished run of its spec."""
    return Articles(articles=[_article(store, article) for article in ARTICLES])


def _article(store: Store, article: Article) -> ArticleView:
    runs = store.runs_of_spec(article.spec_name, _RUNS_TRIED)
    progress = store.progress([run.run_id for run in runs])
    finished = [run for run in runs if progress[run.run_id].event.state.has_results]
    return ArticleView(
        name=article.spec_name,
        title=article.title,
        published=article.published,
        question=article.question,
        spec=article.spec,
        run=next((view for run in finished if (view := _article_run(store, run))), None),
    )


def _article_run(store: Store, run: Run) -> ArticleRun | None:
    kinds = store.host_kinds(run.run_id)
    if not kinds:
        return None
    kind = HostKind(**vars(kinds[0]))
    return store.kept_value(
        ("article's run", run.run_id, kinds[0]),
        lambda evidence: evidence.of_run(run.run_id),
        lambda: _article_run_on(store, run, kind),
    )


def _article_run_on(store: Store, run: Run, kind: HostKind) -> ArticleRun | None:
    samples = store.samples(Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, run_id=run.run_id))
    if not samples:
        return None
    return ArticleRun(
        run_id=run.run_id,
        measured_at=max(row.measured_at for row in samples),
        host_kind=kind,
        cases=[CaseView.of(case) for case in run.plan.cases],
        subjects=subjects_in_order(samples),
        reference=reference_view(store, run, kind),
        first_look=run.purpose is Purpose.FIRST_LOOK,
    )


def reference_view(store: SampleStore, run: Run, kind: HostKind | None) -> ReferenceView | None:
    """The reference with the rates measured on a host kind; None if the spec has no reference."""
    reference = run.plan.reference
    if reference is None:
        return None
    sides = {side: _levels(store, run, kind, metric) for side, metric in SIDES.items()}
    both = sides["both"]
    return ReferenceView(
        title=reference.title,
        notes=reference.notes,
        tables=[
            ReferenceTableView(
                title=table.title,
                baseline=table.baseline,
                columns=[_column(table, subject, sides) for subject in both],
            )
            for table in reference.tables
        ],
        ratios=[
            ReferenceRatiosView(
                title=ratios.title,
                side=ratios.side,
                columns=[
                    ReferenceRatioColumn(
                        subject=subject,
                        rows=[_ratio(row) for row in measured_ratios(ratios, sides[ratios.side][subject])],
                    )
                    for subject in both
                ],
            )
            for ratios in reference.ratios
        ],
    )


def _levels(store: SampleStore, run: Run, kind: HostKind | None, metric: Metric) -> _Levels:
    levels: _Levels = defaultdict(lambda: defaultdict(list))
    pool, cpu_model = (kind.pool, kind.cpu_model) if kind else (None, None)
    for row in store.samples(Selection(metric, pool, cpu_model, run_id=run.run_id)):
        levels[row.subject.name][row.case.case_id].append(row.level)
    return levels


def _column(table: ReferenceTable, subject: str, sides: Mapping[Side, _Levels]) -> ReferenceColumn:
    both, client, server = (sides[side][subject] for side in SIDES)
    return ReferenceColumn(
        subject=subject,
        rows=[_row(row) for row in measured_rows(table, both)],
        swaps=[_swap(swap, client, server) for swap in swaps(table, both)],
    )


def _ratio(row: MeasuredRatio) -> ReferenceRatioView:
    published, ratio = row.published, row.ratio
    return ReferenceRatioView(
        case_id=published.case_id,
        relative_to=published.relative_to,
        published_ratio=published.ratio,
        ratio=ratio.ratio if ratio else None,
        ratio_low=ratio.low if ratio else None,
        ratio_high=ratio.high if ratio else None,
        order=row.order,
    )


def _row(row: MeasuredRow) -> ReferenceRowView:
    return ReferenceRowView(
        case_id=row.case_id,
        published_rate=row.published_rate,
        published_ratio=row.published_ratio,
        rate=row.rate.value if row.rate else None,
        rate_low=row.rate.low if row.rate else None,
        rate_high=row.rate.high if row.rate else None,
        ratio=row.ratio.ratio if row.ratio else None,
        ratio_low=row.ratio.low if row.ratio else None,
        ratio_high=row.ratio.high if row.ratio else None,
    )


def _swap(swap: Swap, client: dict[str, list[float]], server: dict[str, list[float]]) -> SwapView:
    def costs(case_id: str) -> SideCosts | None:
        if not client[case_id] or not server[case_id]:
            return None
        return SideCosts(client_cpu_ns=median(client[case_id]), server_cpu_ns=median(server[case_id]))

    return SwapView(
        faster_here=swap.faster_here,
        slower_here=swap.slower_here,
        ratio=swap.ratio.ratio,
        ratio_low=swap.ratio.low,
        ratio_high=swap.ratio.high,
        faster_costs=costs(swap.faster_here),
        slower_costs=costs(swap.slower_here),
    )
