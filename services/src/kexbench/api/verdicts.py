"""Verdicts: of ended runs on the subjects that they compared, and of any two ends."""

from collections import OrderedDict
from collections.abc import Collection
from http import HTTPStatus
from threading import Lock
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request

from kexbench.api.answers import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import ComparedEnd, Comparison, HostKind, Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, known_run, run_choices
from kexbench.api.upgrades import Relevant, version_of
from kexbench.comparison.cells import judged_in_run
from kexbench.comparison.models import CaseView
from kexbench.comparison.order import MeasuredSubject, subject_view, subjects_in_order
from kexbench.comparison.two_ends import ComparedEnds, End, chosen_ends, compared_ends
from kexbench.comparison.why import culprits_of, explained
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.plans import Instrument
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import SIDES_OF
from kexbench.domain.verdicts import RELEVANT, RunVerdict, run_verdict
from kexbench.planning.rules import relevant_of
from kexbench.store.port import HostKindRow, MeasuredSubjectRow, RunProgress, SampleStore, Selection, Store

router = api_router(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)
_KEPT = 1000
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
EndPool = Annotated[str | None, Query(max_length=200, description="default: all pools that both ends have")]
EndCpuModel = Annotated[str | None, Query(max_length=200, description="default: all CPU models that both ends have")]
EndRun = Annotated[str | None, Query(max_length=100, description="default: the runs that compare the two best")]


class Verdicts:
    """The verdicts of one application, kept until their run changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._kept: OrderedDict[RunProgress, RunVerdict] = OrderedDict()

    def of(self, run_id: str) -> RunVerdict:
        """Raises a 404 problem if the run does not exist, and a 409 problem until it has ended."""
        progress = self._store.progress([run_id]).get(run_id)
        if progress is None or progress.event.state.is_open:
            known_run(self._store, run_id)
            raise ProblemError(HTTPStatus.CONFLICT, f"run {run_id} has not ended", "try again when it has ended")
        with self._lock:
            if kept := self._kept.get(progress):
                return kept
        computed = _verdict(self._store, known_run(self._store, run_id), progress)
        with self._lock:
            self._kept[progress] = computed
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return computed


def _verdicts(request: Request) -> Verdicts:
    return cast(Verdicts, request.app.state.verdicts)


@router.get(
    "/runs/{run_id}/verdict",
    operation_id="verdict",
    responses={409: {"model": Problem, "description": "The run has not ended"}},
)
def verdict(verdicts: Annotated[Verdicts, Depends(_verdicts)], run_id: str) -> RunVerdict:
    """The verdict of an ended run: the number of compared cells, as on its page, and the relevant changes."""
    return verdicts.of(run_id)


@_kept.get("/compare", operation_id="compare")
def compare(
    store: TheStore,
    catalogue: TheCatalogue,
    base: EndSubject = None,
    base_pool: EndPool = None,
    base_cpu_model: EndCpuModel = None,
    base_run_id: EndRun = None,
    other: EndSubject = None,
    other_pool: EndPool = None,
    other_cpu_model: EndCpuModel = None,
    other_run_id: EndRun = None,
    relevant: Relevant = RELEVANT,
) -> Comparison:
    """Any two ends, case by case: versions, libraries, host kinds or runs. Without subjects, the upgrade measured last.
    Ends that are not alike, such as two CPUs, get ratios with intervals and no verdicts."""
    measured = store.measured_subjects(Selection(Metric.CPU_NS, asides=True))
    subjects = {text: version_of(store, catalogue, Metric.CPU_NS, text) for text in (base, other) if text is not None}
    before, after = chosen_ends(measured, *(subjects[text] if text else None for text in (base, other)))
    ends = (
        End(before, base_pool, base_cpu_model, base_run_id) if before else None,
        End(after, other_pool, other_cpu_model, other_run_id) if after else None,
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
        lines=list(shown.lines),
        left_out=len(shown.cells) - len(cells),
    )


def _end(store: SampleStore, end: End | None, measured: Collection[MeasuredSubjectRow]) -> ComparedEnd | None:
    if end is None:
        return None
    name = end.subject.name
    known = {HostKindRow(row.pool, row.cpu_model) for row in measured if row.subject.name == name}
    runs = store.kept_value(
        ("runs of", name),
        lambda evidence: evidence.of_subjects((name,)),
        lambda: run_choices(store.appearances(Selection(Metric.CPU_NS, subjects=(name,), asides=True))),
    )
    return ComparedEnd(
        subject=subject_view(end.subject),
        pool=end.pool,
        cpu_model=end.cpu_model,
        run_id=end.run_id,
        host_kinds=[HostKind(**vars(kind)) for kind in store.host_kinds() if kind in known],
        runs=runs,
    )


def _verdict(store: Store, run: Run, progress: RunProgress) -> RunVerdict:
    metrics = SIDES_OF[run.plan.measure.instrument]
    judged = judged_in_run(store, run.run_id, relevant_of(run.spec_text), metrics)
    subjects = [row.subject for row in store.measured_subjects(Selection(metrics["both"], run_id=run.run_id))]
    names = {row.name: f"{row.library} {row.version} ({row.source})" for row in subjects}
    verdict = run_verdict(
        [((names[before], names[after]), cell) for (before, after), cell in judged], _trouble(run, progress)
    )
    if run.plan.measure.instrument is not Instrument.INSTRUCTIONS:
        return verdict
    slower = [(step, cell.case_id) for step, cell in judged if cell.verdict == "more"]
    cases = [case for step, case_id in slower for case in explained(store, *step, case_id, run.run_id)]
    return verdict.model_copy(update={"culprits": tuple(culprits_of(cases, run.run_id))})


def _trouble(run: Run, progress: RunProgress) -> str:
    """Why results of a run are missing; empty if it has all of them."""
    state, detail = progress.event.state, progress.event.detail
    if state is RunState.FINISHED:
        stored, planned = progress.invocations_stored, run.plan.invocations
        return "" if stored >= planned else detail or f"{stored:,} of {planned:,} invocations are stored"
    return f"{state}: {detail}" if detail else str(state)


router.include_router(_kept)
