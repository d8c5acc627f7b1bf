"""Verdicts: what a run that has ended says of the subjects that it compared."""

from collections import OrderedDict
from http import HTTPStatus
from threading import Lock
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request

from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, known_run
from kexbench.comparison.cells import judged_in_run
from kexbench.domain.runs import Run, RunState
from kexbench.domain.samples import Metric
from kexbench.domain.verdicts import RunVerdict, run_verdict
from kexbench.planning.rules import relevant_of
from kexbench.store.port import RunProgress, SampleStore, Selection, Store

router = APIRouter(tags=["reading"], responses=PROBLEMS)
_KEPT = 1000


class Verdicts:
    """Of one application. Each is worked out once, for as long as its run stays as it is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._known: OrderedDict[RunProgress, RunVerdict] = OrderedDict()

    def of(self, run_id: str) -> RunVerdict:
        """Raises a 404 problem where there is no such run, and a 409 one until it has ended."""
        progress = self._store.progress([run_id]).get(run_id)
        if progress is None or progress.event.state.is_open:
            known_run(self._store, run_id)
            raise ProblemError(HTTPStatus.CONFLICT, f"run {run_id} has not ended", "ask again when it has")
        with self._lock:
            if known := self._known.get(progress):
                return known
        found = _verdict(self._store, known_run(self._store, run_id), progress)
        with self._lock:
            self._known[progress] = found
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found


def _verdicts(request: Request) -> Verdicts:
    return cast(Verdicts, request.app.state.verdicts)


@router.get(
    "/runs/{run_id}/verdict",
    operation_id="verdict",
    responses={409: {"model": Problem, "description": "It has not ended"}},
)
def verdict(verdicts: Annotated[Verdicts, Depends(_verdicts)], run_id: str) -> RunVerdict:
    """What a run that has ended says: how many cells it compares, as its page does, and which moved relevantly."""
    return verdicts.of(run_id)


def _verdict(store: SampleStore, run: Run, progress: RunProgress) -> RunVerdict:
    judged = judged_in_run(store, run.run_id, relevant_of(run.spec_text))
    subjects = [row.subject for row in store.measured_subjects(Selection(Metric.CPU_NS, run_id=run.run_id))]
    names = {one.name: f"{one.library} {one.version} ({one.source})" for one in subjects}
    return run_verdict(
        [((names[before], names[after]), cell) for (before, after), cell in judged], _trouble(run, progress)
    )


def _trouble(run: Run, progress: RunProgress) -> str:
    """Of a run that has all its numbers nothing, whatever else is said of it."""
    state, detail = progress.event.state, progress.event.detail
    if state is RunState.FINISHED:
        stored, planned = progress.invocations_stored, run.plan.invocations
        return "" if stored >= planned else detail or f"{stored:,} of {planned:,} invocations are stored"
    return f"{state}: {detail}" if detail else str(state)
