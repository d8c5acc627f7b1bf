"""What is stored about a bisection and the results of its runs, computed on each request."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

from kexbench.analysis.bisect import Next, most_builds, next_step
from kexbench.analysis.bisect_notes import Notes
from kexbench.domain.batches import Values
from kexbench.domain.bisections import Bisection, BisectionEvent, BisectionEventKind, BisectionState, Line
from kexbench.domain.runs import Run, RunState
from kexbench.store.port import RunProgress, RunStore, SampleStore, Selection, Store

_AT_ONCE = 64
"""Runs in one query. Few bisections have more."""
_BEGINS = (BisectionEventKind.ASKED, BisectionEventKind.RESUMED)


@dataclass(frozen=True)
class KnownRun:
    """A run of a bisection. `hash`: the commit between the ends, or None if it measures only the ends."""

    number: int
    run: Run
    progress: RunProgress
    hash: str | None
    unbuilt: bool
    """Whether it failed because the sources of its commit do not build."""

    @property
    def waits(self) -> bool:
        """Whether it ended without a result to continue from."""
        state = self.progress.event.state
        return state is RunState.CANCELLED or (state is RunState.FAILED and not self.unbuilt)

    @property
    def detail(self) -> str:
        event = self.progress.event
        return f"run {self.run.run_id} is {event.state}" + (f": {event.detail}" if event.detail else "")


@dataclass(frozen=True)
class Known:
    """All that is stored about a bisection."""

    bisection: Bisection
    events: list[BisectionEvent]
    runs: list[KnownRun]

    @property
    def newest(self) -> BisectionEvent:
        return self.events[-1]

    @property
    def builds(self) -> int | None:
        """The number of builds in the newest request."""
        requests = [event for event in self.events if event.kind is BisectionEventKind.ASKED]
        return requests[-1].builds

    @property
    def has_ended(self) -> bool:
        return self.newest.kind in (BisectionEventKind.ENDED, BisectionEventKind.CANCELLED)

    def wants_more(self, builds: int) -> bool:
        """Whether `builds` is more than it may use now, and would continue the search."""
        is_open = self.newest.kind is not BisectionEventKind.CANCELLED and self.newest.outcome in (None, "cannot say")
        return is_open and builds > (self.builds or 0)

    @property
    def series(self) -> int:
        return sum(event.kind in _BEGINS for event in self.events)

    def looks_for_its_line(self, series: int) -> bool:
        """Whether it still has no commit range since the start or resumption that `series` counts."""
        return self.newest.kind in _BEGINS and self.series == series

    @property
    def last_run(self) -> KnownRun | None:
        return self.runs[-1] if self.runs else None

    def state(self, *, has_line: bool) -> tuple[BisectionState, str]:
        """The state, and its detail for people."""
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
    """The runs in their order, up to the first missing number."""
    for first in count(step=_AT_ONCE):
        run_ids = [bisection.run_id(number) for number in range(first, first + _AT_ONCE)]
        progress = store.progress(run_ids)
        for number, run_id in enumerate(run_ids, start=first):
            run = store.run(run_id) if run_id in progress else None
            if run is None:
                return
            # The ends come first, unless the commit is counted alone.
            subjects = [subject.reference for subject in run.plan.subjects]
            between = subjects[-1] if len(subjects) != 2 else None
            failed = progress[run_id].event.state is RunState.FAILED
            unbuilt = failed and between is not None and between in progress[run_id].event.unbuilt
            yield KnownRun(number, run, progress[run_id], between and between.rpartition("#")[2], unbuilt)


def notes_of(store: SampleStore, known: Known, line: Line) -> Notes:
    """The results of the ended runs. Raises NotMeasured if the ends have no numbers."""
    bisection = known.bisection
    notes = Notes(
        library=bisection.library,
        address=bisection.address,
        commits=line.commits,
        case_ids=tuple(case.case_id for case in bisection.cases),
        invocations=bisection.invocations,
        instrument=bisection.instrument,
    )
    ends: Results = {}
    numbers = {commit.hash: number for number, commit in enumerate(line.commits)}
    for row in known.runs:
        commit = None if row.hash is None else numbers[row.hash]
        if row.unbuilt and commit is not None:
            notes = notes.with_failure(commit, row.progress.event.detail, built=False)
        elif row.progress.event.state.has_results:
            results = _results(store, notes, row.run.run_id)
            if commit is None and notes.instrument.counts:
                ends = results
            measurement = notes.measurement(row.run.run_id, commit, ends | results)
            notes = notes.with_measurement(measurement, partial(_reasons, store, notes, row.run.run_id))
    return notes


Results = dict[tuple[str, str], dict[str, Values]]
"""Batches by case and reference, then by invocation."""


def _results(store: SampleStore, notes: Notes, run_id: str) -> Results:
    """The results of a finished run. Counts are paired by their order, across runs: nothing changes them in between."""
    results: Results = {}
    for row in store.samples(Selection(notes.metric, run_id=run_id)):
        of_subject = results.setdefault((row.case.case_id, f"{row.subject.library}@{row.subject.source}"), {})
        counts = notes.instrument.counts
        of_subject[str(len(of_subject)) if counts else row.unit] = row.values
    return results


def _reasons(store: SampleStore, notes: Notes, run_id: str) -> str:
    """Why subjects of a run have no number."""
    outcomes = store.outcomes(Selection(notes.metric, run_id=run_id))
    return "; ".join(sorted({f"{row.subject.library}@{row.subject.source}: {row.reason}" for row in outcomes}))


def next_of(notes: Notes, builds: int) -> Next | None:
    """The next step of a bisection whose ends were measured, or None if the ends do not differ."""
    return next_step(notes.search(builds)) if notes.changed() else None


def builds_of(known: Known, line: Line) -> int:
    """How many builds it may use."""
    return known.builds or most_builds(len(line.commits) - 1)
