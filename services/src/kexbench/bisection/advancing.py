"""The next step of each open bisection.

Only the request, the commit range and the runs are stored. A run's id follows from the bisection and the run's number,
so several services that request the next run request the same one.
"""

from datetime import UTC, datetime, timedelta

from kexbench.analysis.bisect import Found, Try
from kexbench.analysis.bisect_answer import answer
from kexbench.analysis.bisect_notes import Notes, NotMeasured
from kexbench.bisection.known import Known, builds_of, known_of, next_of, notes_of
from kexbench.domain.bisections import Bisection, BisectionEvent, BisectionEventKind, Line, Outcome, WantedLine
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import Trigger
from kexbench.planning.bisection import BisectionRun
from kexbench.planning.compose import spec_text
from kexbench.queue.runs import one_at_a_time, planned_wish, queue_run, stirred
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import BisectionStore, Store

_TICK = timedelta(milliseconds=1)
"""The resolution of the store's times."""


def advance(store: Store, supplies: Supplies | LocalSupplies, only: str | None = None) -> list[WantedLine]:
    """Queue the next run of every bisection that needs one, or of one `only`, and end those with an answer. Returns
    those whose commits are still unknown. Repeated or concurrent calls change nothing."""
    missing = []
    with one_at_a_time:
        for bisection_id in store.open_bisections():
            if only not in (None, bisection_id):
                continue
            bisection = store.bisection(bisection_id)
            if bisection and (line := _advance(store, supplies, known_of(store, bisection))):
                missing.append(line)
    return missing


def _advance(store: Store, supplies: Supplies | LocalSupplies, known: Known) -> WantedLine | None:
    bisection, last = known.bisection, known.last_run
    if known.newest.kind is BisectionEventKind.WAITS or (last and (last.waits or last.progress.event.state.is_open)):
        return None
    line = store.line(bisection.bisection_id)
    if line is None:
        good, bad = (str(bisection.ref(name)) for name in (bisection.good, bisection.bad))
        return WantedLine(
            bisection_id=bisection.bisection_id, series=known.series, good=good, bad=bad, pool=bisection.pool
        )
    try:
        if len(line.commits) == 1:
            raise NotMeasured(f"{bisection.good} and {bisection.bad} are the same commit")
        _take_step(store, supplies, known, line)
    except NotMeasured as error:
        _end(store, known, "not measured", str(error))
    return None


def _take_step(store: Store, supplies: Supplies | LocalSupplies, known: Known, line: Line) -> None:
    """Raises NotMeasured if the ends have no numbers."""
    bisection, builds, notes = known.bisection, builds_of(known, line), notes_of(store, known, line)
    if not notes.measured:
        _queue(store, supplies, known, notes, None)
        return
    step = next_of(notes, builds)
    if isinstance(step, Try):
        _queue(store, supplies, known, notes, step.commit)
        return
    says = answer(notes, bisection.cases, (bisection.good, bisection.bad), builds, step).says
    _end(store, known, "found" if isinstance(step, Found) else "cannot say", says)


def _queue(store: Store, supplies: Supplies | LocalSupplies, known: Known, notes: Notes, commit: int | None) -> None:
    bisection, number = known.bisection, len(known.runs)
    case_ids = set(notes.case_ids if commit is None else notes.changed())
    run = BisectionRun(
        ends=notes.ends,
        between=None if commit is None else notes.ref(commit),
        cases=tuple(case for case in bisection.cases if case.case_id in case_ids),
        invocations=bisection.invocations,
        name=f"bisect-{bisection.library}-{bisection.bisection_id[:8]}",
        pool=bisection.pool,
        instrument=bisection.instrument,
    )
    try:
        plan = planned_wish(supplies, run.wish, run.catalogue_text)
    except Refusal as error:
        add_event(store, known, BisectionEventKind.WAITS, error.detail)
        return
    detail = f"run {number} of bisection {bisection.bisection_id}"
    queue_run(store, bisection.run_id(number), Trigger.BISECTION, spec_text(run.wish), plan, detail)


def _end(store: Store, known: Known, outcome: Outcome, detail: str) -> None:
    add_event(store, known, BisectionEventKind.ENDED, detail, outcome=outcome)


def add_event(
    store: BisectionStore,
    known: Known,
    kind: BisectionEventKind,
    detail: str = "",
    *,
    builds: int | None = None,
    outcome: Outcome | None = None,
) -> None:
    """Add an event later than all others, even if the clock was set back. The caller holds `one_at_a_time`."""
    earliest = [event.at + _TICK for event in known.events]
    store.add_bisection_event(
        BisectionEvent(
            bisection_id=known.bisection.bisection_id,
            at=max([datetime.now(UTC), *earliest]),
            kind=kind,
            detail=detail,
            builds=builds,
            outcome=outcome,
        )
    )
    stirred.set()


def keep_line(store: BisectionStore, line: Line) -> None:
    """Store the commit range, unless there is one already."""
    with one_at_a_time:
        if store.line(line.bisection_id) is None:
            store.add_line(line)
    stirred.set()


def give_up_line(store: Store, bisection: Bisection, series: int, reason: str) -> None:
    """Record that the commits were not found. The bisection waits until it is resumed. A late report is ignored."""
    with one_at_a_time:
        known = known_of(store, bisection)
        if store.line(bisection.bisection_id) is None and known.looks_for_its_line(series):
            add_event(store, known, BisectionEventKind.WAITS, reason)
