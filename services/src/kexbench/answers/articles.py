"""The articles whose measurements specs of this project repeat, each with its newest run."""

from datetime import datetime

from pydantic import Field

from kexbench.answers.reference import (
    ReferenceView,
    reference_view,
)
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import subjects_in_order
from kexbench.domain.articles import ARTICLES, Article
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.runs import Purpose, Run
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.store.port import Selection, Store


class ArticleRun(Frozen):
    """The newest finished run of an article's spec, on the host kind that it measured last."""

    run_id: str
    measured_at: datetime
    host_kind: HostKind
    cases: list[CaseView]
    subjects: list[Subject]
    reference: ReferenceView | None = Field(description="null if the spec of that run had no published figures")
    first_look: bool = Field(description="measured with few and short invocations: `kexbench run --quick`")


class ArticleView(Frozen):
    """An article whose measurements a spec of this project repeats."""

    name: str = Field(description="of the spec")
    title: str
    published: str = Field(description="where and when")
    question: str
    spec: str = Field(description="the file with the spec, in the repository")
    run: ArticleRun | None = Field(description="null if no run of the spec has finished")


class Articles(Frozen):
    articles: list[ArticleView]


_RUNS_TRIED = 20
"""The newest runs of a spec among which a finished one is looked for."""


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
    kind = kinds[0]
    return store.kept_value(
        ("article's run", run.run_id, kind),
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


def articles(store: Store) -> Articles:
    """Each with the newest finished run of its spec."""
    return Articles(articles=[_article(store, article) for article in ARTICLES])
