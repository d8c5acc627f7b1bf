"""Verdicts: of ended runs on the subjects that they compared, and of any two ends."""

from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.answers.judging import judged_steps
from kexbench.answers.run_verdict import verdicts_of
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import MeasuredSubject, subject_view, subjects_in_order
from kexbench.answers.two_ends import ComparedCell, ComparedEnds, End, chosen_ends, compared_ends
from kexbench.api.answers import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import CaseChoice, ComparedEnd, Comparison, HostKind, Problem, RunChoice
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, known_run, run_choices
from kexbench.api.upgrades import Relevant, version_of
from kexbench.domain.cases import Case, case_order, differences
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import SIDES_OF, UpgradeCell
from kexbench.domain.verdicts import RELEVANT, RunVerdict
from kexbench.planning.rules import relevant_of
from kexbench.store.port import AppearanceRow, HostKindRow, MeasuredSubjectRow, SampleStore, Selection

router = api_router(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)
MOST_RUNS = 50
"""Whose verdicts are computed in one request. The first time, each may take a second."""
MOST_CELLS = 2000
"""More are not read in one table."""
MOST_SUBJECTS = 500
"""To choose from: a followed branch has thousands of commits."""
EndSubject = Annotated[
    str | None,
    Query(
        max_length=500,
        pattern=f"^({'|'.join(LIBRARIES)})@.",
        description="unique name of a subject, or LIBRARY@VERSION",
        examples=["openssl@3.5"],
    ),
]
RunSubject = Annotated[str, Query(min_length=1, max_length=500, description="unique name of a subject of the run")]
EndPool = Annotated[str | None, Query(max_length=200, description="default: all pools that both ends have")]
EndCpuModel = Annotated[str | None, Query(max_length=200, description="default: all CPU models that both ends have")]
EndRun = Annotated[str | None, Query(max_length=100, description="default: the runs that compare the two best")]
EndCase = Annotated[
    str | None, Query(max_length=300, description="id of a case; default: that of the other end, or every case")
]


RunIds = Annotated[
    list[Annotated[str, Query(max_length=100)]], Query(min_length=1, max_length=MOST_RUNS, description="of runs")
]


@_kept.get(
    "/runs/{run_id}/verdict",
    operation_id="verdict",
    responses={409: {"model": Problem, "description": "The run has not ended"}},
)
def verdict(store: TheStore, run_id: str) -> RunVerdict:
    """The verdict of an ended run: the number of compared cells, as on its page, the relevant changes, and how many
    comparisons have no result."""
    run, progress = known_run(store, run_id), store.progress([run_id])
    if run_id not in progress or progress[run_id].event.state.is_open:
        raise ProblemError(HTTPStatus.CONFLICT, f"run {run_id} has not ended", "try again when it has ended")
    return verdicts_of(store, [run], progress)[run_id]


@_kept.get("/verdicts", operation_id="verdicts")
def verdicts(store: TheStore, run_id: RunIds) -> dict[str, RunVerdict]:
    """The verdicts of several runs, by their ids. Runs that have not ended are left out."""
    progress = store.progress(run_id)
    ended = [each for each, its_progress in progress.items() if not its_progress.event.state.is_open]
    return verdicts_of(store, store.runs_named(ended), progress)


@_kept.get("/runs/{run_id}/changes", operation_id="changes")
def changes(store: TheStore, run_id: str, before: RunSubject, after: RunSubject) -> tuple[UpgradeCell, ...]:
    """The change from one subject of a run to another, whichever is the newer version, by the numbers of this run and
    the metric of its instrument. Empty where no case has numbers of both."""
    stored = known_run(store, run_id)
    step, metrics = (before, after), SIDES_OF[stored.plan.measure.instrument]
    measured = store.kept_value(
        ("subjects", metrics["both"], run_id),
        lambda evidence: evidence.of_run(run_id),
        lambda: {row.subject for row in store.appearances(Selection(metrics["both"], run_id=run_id))},
    )
    if not measured.issuperset(step):
        return ()
    judged = judged_steps(store, [step], relevant_of(stored.spec_text), run_ids=(run_id, run_id), metrics=metrics)
    return judged[step].ordered(store.host_kinds(run_id)).judged


@_kept.get("/compare", operation_id="compare")
def compare(
    store: TheStore,
    catalogue: TheCatalogue,
    base: EndSubject = None,
    base_pool: EndPool = None,
    base_cpu_model: EndCpuModel = None,
    base_run_id: EndRun = None,
    base_case_id: EndCase = None,
    other: EndSubject = None,
    other_pool: EndPool = None,
    other_cpu_model: EndCpuModel = None,
    other_run_id: EndRun = None,
    other_case_id: EndCase = None,
    relevant: Relevant = RELEVANT,
) -> Comparison:
    """Any two ends, case by case: versions, libraries, host kinds or runs. Without subjects, the upgrade measured last.
    Ends that are not alike, such as two CPUs, get ratios with intervals and no verdicts. With a case for each end, two
    cases: judged where one run measured both in turns."""
    measured = store.measured_subjects(Selection(Metric.CPU_NS, asides=True))
    subjects = {text: version_of(store, catalogue, Metric.CPU_NS, text) for text in (base, other) if text is not None}
    before, after = chosen_ends(measured, *(subjects[text] if text else None for text in (base, other)))
    ends = (
        End(before, base_pool, base_cpu_model, base_run_id, base_case_id or other_case_id) if before else None,
        End(after, other_pool, other_cpu_model, other_run_id, other_case_id or base_case_id) if after else None,
    )
    shown = compared_ends(store, ends[0], ends[1], measured, relevant) if ends[0] and ends[1] else ComparedEnds()
    chosen = {end.subject.name for end in ends if end}
    newest = sorted(measured, key=lambda row: (row.subject.name in chosen, row.measured_at), reverse=True)
    choices = {row.subject.name for row in newest[:MOST_SUBJECTS]}
    cells = shown.cells[:MOST_CELLS]
    return Comparison(
        subjects=subjects_in_order(
            MeasuredSubject(row.subject, row.measured_at) for row in measured if row.subject.name in choices
        ),
        base=_end(store, ends[0], measured),
        other=_end(store, ends[1], measured),
        cases=[CaseView.of(case) for case in shown.cases],
        cells=list(cells),
        differences=differences(*_both_cases(shown.cells[0], shown.cases)) if shown.cells else [],
        lines=list(shown.lines),
        left_out=len(shown.cells) - len(cells),
    )


def _both_cases(cell: ComparedCell, cases: Collection[Case]) -> tuple[Case, Case]:
    by_id = {case.case_id: case for case in cases}
    return by_id[cell.case_id], by_id[cell.other_case_id]


def _end(store: SampleStore, end: End | None, measured: Collection[MeasuredSubjectRow]) -> ComparedEnd | None:
    if end is None:
        return None
    name = end.subject.name
    known = {HostKindRow(row.pool, row.cpu_model) for row in measured if row.subject.name == name}
    runs, cases = store.kept_value(
        ("runs and cases of", name),
        lambda evidence: evidence.of_subjects((name,)),
        lambda: _choices(store.appearances(Selection(Metric.CPU_NS, subjects=(name,), asides=True))),
    )
    return ComparedEnd(
        subject=subject_view(end.subject),
        pool=end.pool,
        cpu_model=end.cpu_model,
        run_id=end.run_id,
        case_id=end.case_id,
        host_kinds=[HostKind(**vars(kind)) for kind in store.host_kinds() if kind in known],
        runs=runs,
        cases=cases,
    )


def _choices(rows: Collection[AppearanceRow]) -> tuple[list[RunChoice], list[CaseChoice]]:
    cases = {row.case.case_id: row.case for row in rows}
    ordered = sorted(cases.values(), key=case_order)
    return run_choices(rows), [CaseChoice(id=case.case_id, title=case.label) for case in ordered]


router.include_router(_kept)
