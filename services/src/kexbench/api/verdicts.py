"""Verdicts of ended runs on the subjects that they compared."""

from collections import OrderedDict
from http import HTTPStatus
from threading import Lock
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request

from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, known_run
from kexbench.comparison.cells import judged_in_run
from kexbench.comparison.why import culprits_of, explained
from kexbench.domain.plans import Instrument
from kexbench.domain.runs import Run, RunState
from kexbench.domain.upgrades import SIDES_OF
from kexbench.domain.verdicts import RunVerdict, run_verdict
from kexbench.planning.rules import relevant_of
from kexbench.store.port import RunProgress, Selection, Store

router = APIRouter(tags=["reading"], responses=PROBLEMS)
_KEPT = 1000


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
