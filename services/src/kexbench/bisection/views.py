"""Views of a bisection: its summary in a list, and all its details."""

import numpy as np

from kexbench.analysis.bisect import Search, Try, posterior
from kexbench.analysis.bisect_answer import answer, case_steps
from kexbench.analysis.bisect_notes import Notes, NotMeasured
from kexbench.analysis.rounds import Vector
from kexbench.answers.shapes import CaseView
from kexbench.bisection.known import Known, builds_of, next_of, notes_of
from kexbench.bisection.models import (
    BisectionControl,
    BisectionDetail,
    BisectionRunView,
    BisectionSummary,
)
from kexbench.domain.bisections import BisectionAnswer, BisectionCommit, CaseStep, Line
from kexbench.store.port import BisectionStore, SampleStore, Store

LIKELY = 0.005
"""The least probability at which a commit is listed although it was not built. At most 200 commits can reach it."""


def summary_of(store: BisectionStore, known: Known) -> BisectionSummary:
    bisection = known.bisection
    state, detail = known.state(has_line=bool(known.runs) or store.line(bisection.bisection_id) is not None)
    return BisectionSummary(
        bisection_id=bisection.bisection_id,
        asked_at=bisection.asked_at,
        asked_by=bisection.asked_by,
        library=bisection.library,
        repository=bisection.address,
        good=bisection.good,
        bad=bisection.bad,
        pool=bisection.pool,
        cases=[CaseView.of(case) for case in bisection.cases],
        state=state,
        detail=detail,
        runs=len(known.runs),
    )


def detail_of(store: Store, known: Known, *, has_queue: bool) -> BisectionDetail:
    bisection = known.bisection
    line = store.line(bisection.bisection_id)
    summary = summary_of(store, known)
    commits, steps, result = _findings(store, known, line) if line else ([], (), None)
    numbers = {commit.hash: number for number, commit in enumerate(line.commits)} if line else {}
    return BisectionDetail(
        summary=summary,
        events=known.events,
        controls=controls_of(known, summary.state) if has_queue else [],
        invocations=bisection.invocations,
        most_builds=builds_of(known, line) if line and len(line.commits) > 1 else None,
        searched=len(line.commits) if line else 0,
        commits=commits,
        runs=[
            BisectionRunView(
                number=row.number,
                run_id=row.run.run_id,
                commit=None if row.hash is None else numbers[row.hash],
                state=row.progress.event.state,
                detail=row.progress.event.detail,
                invocations_planned=row.run.plan.invocations,
                invocations_stored=row.progress.invocations_stored,
            )
            for row in known.runs
        ],
        steps=list(steps),
        answer=result,
    )


def controls_of(known: Known, state: str) -> list[BisectionControl]:
    """The controls that would have an effect in this state."""
    last = known.last_run
    if state == "waiting":
        return ["cancel", "resume"]
    if state == "cancelled":
        return [] if last and last.progress.event.state.is_open else ["resume"]
    return ["cancel"] if state in ("asked", "searching") else []


def _findings(
    store: SampleStore, known: Known, line: Line
) -> tuple[list[BisectionCommit], tuple[CaseStep, ...], BisectionAnswer | None]:
    """The commits with a result or a probability, the change in each case, and the answer once there is one."""
    bisection = known.bisection
    try:
        notes = notes_of(store, known, line)
    except NotMeasured:
        notes = None
    if notes is None or not notes.measured:
        ends = sorted({0, len(line.commits) - 1})
        return [_commit(line, number, notes, None) for number in ends], (), None
    builds = builds_of(known, line)
    step = next_of(notes, builds)
    result = None
    if not isinstance(step, Try):
        result = answer(notes, bisection.cases, (bisection.good, bisection.bad), builds, step)
    search = notes.search(builds)
    probabilities = posterior(search) if search.cases else None
    commits = [_commit(line, number, notes, probabilities) for number in _shown(search, probabilities)]
    return commits, case_steps(notes, bisection.cases), result


def _shown(search: Search, probabilities: "Vector | None") -> list[int]:
    likely = [] if probabilities is None else [int(index) + 1 for index in np.flatnonzero(probabilities >= LIKELY)]
    return sorted({0, search.commits, *search.readings, *search.failed, *likely})


def _commit(line: Line, number: int, notes: Notes | None, probabilities: "Vector | None") -> BisectionCommit:
    failure = notes.failed.get(number) if notes else None
    return BisectionCommit(
        **line.commits[number].model_dump(),
        number=number,
        probability=None if probabilities is None else 0.0 if number == 0 else float(probabilities[number - 1]),
        reached=None if probabilities is None else min(1.0, float(probabilities[:number].sum())),
        measurements=notes.readings.get(number, 0) if notes else 0,
        fails=failure.reason if failure else None,
    )
