"""What is stored of a bisection, and what its runs say: worked out anew each time it is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

from kexbench.analysis.bisect import Next, most_builds, next_step
from kexbench.analysis.bisect_notes import METRIC, Notes
from kexbench.domain.bisections import Bisection, BisectionEvent, BisectionEventKind, BisectionState, Line
from kexbench.domain.runs import Run, RunState
from kexbench.store.port import RunProgress, RunStore, SampleStore, Selection, Store

_AT_ONCE = 64
"""Runs that are asked for in one query; few bisections have more."""
_BEGINS = (BisectionEventKind.ASKED, BisectionEventKind.RESUMED)


@dataclass(frozen=True)
class KnownRun:
    """One of a bisection's runs; `hash` is the commit between the ends, None of the ends alone."""

    number: int
    run: Run
    progress: RunProgress
    hash: str | None
    unbuilt: bool
    """Whether it failed since the sources of its commit do not build."""

    @property
    def waits(self) -> bool:
        """Whether it ended with nothing to go on from."""
        state = self.progress.event.state
        return state is RunState.CANCELLED or (state is RunState.FAILED and not self.unbuilt)

    @property
    def detail(self) -> str:
        event = self.progress.event
        return f"run {self.run.run_id} is {event.state}" + (f": {event.detail}" if event.detail else "")


@dataclass(frozen=True)
class Known:
    """All that is stored of a bisection."""

    bisection: Bisection
    events: list[BisectionEvent]
    runs: list[KnownRun]

    @property
    def newest(self) -> BisectionEvent:
        return self.events[-1]

    @property
    def builds(self) -> int | None:
        """That were asked for last."""
        asked = [event for event in self.events if event.kind is BisectionEventKind.ASKED]
        return asked[-1].builds

    @property
    def has_ended(self) -> bool:
        return self.newest.kind in (BisectionEventKind.ENDED, BisectionEventKind.CANCELLED)

    def wants_more(self, builds: int) -> bool:
        """Whether so many builds are more than it has, and would change something."""
        may_go_on = self.newest.kind is not BisectionEventKind.CANCELLED and self.newest.outcome in (None, "cannot say")
        return may_go_on and builds > (self.builds or 0)

    @property
    def series(self) -> int:
        return sum(event.kind in _BEGINS for event in self.events)

    def looks_for_its_line(self, series: int) -> bool:
        """Still, as it did when it was begun or resumed so often."""
        return self.newest.kind in _BEGINS and self.series == series

    @property
    def last_run(self) -> KnownRun | None:
        return self.runs[-1] if self.runs else None

    def state(self, *, has_line: bool) -> tuple[BisectionState, str]:
        """With what is said of it."""
        newest, last = self.newest, self.last_run
        if newest.kind is BisectionEventKind.ENDED:
            assert newest.outcome is not None
            return newest.outcome, newest.detail
        if newest.kind is BisectionEventKind.CANCELLED:
            return "cancelled", newest.detail
        if newest.kind is BisectionEventKind.WAITS:
            return "waiting", newest.detail
        if not has_line:
            return "asked", ""
        if last and last.waits:
            return "waiting", last.detail
        return "searching", last.detail if last else ""


def known_of(store: Store, bisection: Bisection) -> Known:
    return Known(bisection, store.bisection_events(bisection.bisection_id), list(_runs(store, bisection)))


def _runs(store: RunStore, bisection: Bisection) -> Iterator[KnownRun]:
    """In their order, as far as there are any without a gap."""
    for first in count(step=_AT_ONCE):
        run_ids = [bisection.run_id(number) for number in range(first, first + _AT_ONCE)]
        progress = store.progress(run_ids)
        for number, run_id in enumerate(run_ids, start=first):
            run = store.run(run_id) if run_id in progress else None
            if run is None:
                return
            subjects = [subject.reference for subject in run.plan.subjects]
            between = subjects[2] if len(subjects) > 2 else None
            failed = progress[run_id].event.state is RunState.FAILED
            unbuilt = failed and between is not None and between in progress[run_id].event.unbuilt
            yield KnownRun(number, run, progress[run_id], between and between.rpartition("#")[2], unbuilt)


def notes_of(store: SampleStore, known: Known, line: Line) -> Notes:
    """What the runs that have ended say. Raises NotMeasured where the ends gave no number."""
    bisection = known.bisection
    notes = Notes(
        library=bisection.library,
        address=bisection.address,
        commits=line.commits,
        case_ids=tuple(case.case_id for case in bisection.cases),
        invocations=bisection.invocations,
    )
    numbers = {commit.hash: number for number, commit in enumerate(line.commits)}
    for each in known.runs:
        commit = None if each.hash is None else numbers[each.hash]
        if each.unbuilt and commit is not None:
            notes = notes.with_failure(commit, each.progress.event.detail, built=False)
        elif each.progress.event.state is RunState.FINISHED:
            notes = _with_run(store, notes, each.run.run_id, commit)
    return notes


def _with_run(store: SampleStore, notes: Notes, run_id: str, commit: int | None) -> Notes:
    """With the measurement of a run that has finished."""
    batches: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {}
    for row in store.samples(Selection(METRIC, run_id=run_id)):
        reference = f"{row.subject.library}@{row.subject.source}"
        batches.setdefault((row.case.case_id, reference), {})[row.unit] = tuple(row.values)
    return notes.with_measurement(notes.measurement(run_id, commit, batches), partial(_reasons, store, run_id))


def _reasons(store: SampleStore, run_id: str) -> str:
    """Why subjects of a run have no number."""
    found = store.outcomes(Selection(METRIC, run_id=run_id))
    return "; ".join(sorted({f"{row.subject.library}@{row.subject.source}: {row.reason}" for row in found}))


def next_of(notes: Notes, builds: int) -> Next | None:
    """What to do about a bisection whose ends were measured; None where they do not differ."""
    return next_step(notes.search(builds)) if notes.changed() else None


def builds_of(known: Known, line: Line) -> int:
    """How many it may have."""
    return known.builds or most_builds(len(line.commits) - 1)
