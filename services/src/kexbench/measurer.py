"""The measurer: begins the runs of this machine's queue one after the other, each in a process of its own.

The store is the queue. What the measurer knows besides is the process that measures now; where a service ended with a
run under way, the next one puts that run in the queue again, and its folder says what is left to do.
"""

import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event

from kexbench.alerts.analyst import Analyst
from kexbench.api.gate import Reading
from kexbench.api.troubles import Troubles, reason_of
from kexbench.bisection.advancing import advance, give_up_line, keep_line
from kexbench.bisection.known import known_of
from kexbench.client import ApiError, deliver_run
from kexbench.domain.bisections import Line
from kexbench.domain.kits import SubjectRef
from kexbench.domain.pools import LOCAL
from kexbench.domain.refusals import Refusal
from kexbench.domain.runs import RunReason, RunState, Trigger
from kexbench.execution.measuring import INTERRUPTED, MeasuringProcess
from kexbench.kits import KitError
from kexbench.kits.git import GitOrigin
from kexbench.kits.process import Children, Ended
from kexbench.planning.queue import QueuedRun, next_run, superseded
from kexbench.planning.schedule import due
from kexbench.queue.runs import as_queued, claim, record, stirred
from kexbench.queue.schedules import begin_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.service import ServiceUnavailable
from kexbench.store.port import OpenRunRow, Store, StoreError
from kexbench.wiring import Installation

LONGEST_WAIT_S = 20.0
"""Between two looks at the schedules' times; everything else is told."""
DISTURBING_S, DISTURBING_SHARE = 2.0, 0.5
"""So long, and so much of a run's time, may readers have requests under way before the run says so."""
GOES_ON = "interrupted: it goes on when it is its turn again"


class Measurer:
    """Works in a thread of the service, which outlasts it."""

    def __init__(
        self,
        installation: Installation,
        store: Store,
        say: Callable[[str], None],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        troubles: Troubles | None = None,
        cpus: Collection[int] | None = None,
        reading: Reading | None = None,
        only: str | None = None,
    ) -> None:
        """`cpus` are those that a run may use, by default those of this thread; `reading` is what readers ask of the
        service meanwhile; `only` is the run or the bisection that alone is seen to, by default the whole queue is."""
        self._installation = installation
        self._cpus = cpus or os.sched_getaffinity(0)
        self._troubles = troubles or Troubles()
        self._store = store
        self._supplies: Supplies | LocalSupplies = installation.supplies(store)
        self._analyst = Analyst(store, self._supplies, clock, say)
        self._say = say
        self._clock = clock
        self._ending = Event()
        self._process: MeasuringProcess | None = None
        self._reading = reading or Reading()
        self._only = only
        self._began = (0.0, 0.0)
        """When the run began that is measured, and what readers had taken by then, in seconds."""
        self._took_up = False
        self._origin = GitOrigin(installation.settings.cache)
        self._git = Children()
        self._refused: dict[str, datetime] = {}
        """Times of schedules whose run could not be planned, by the schedule's name."""

    def work(self) -> None:
        """Until the end is asked for and nothing is measured any more."""
        while True:
            stirred.clear()
            self._once()
            if self._ending.is_set() and self._process is None:
                return
            stirred.wait(LONGEST_WAIT_S)

    def end(self) -> None:
        """End after the invocation under way; asked again, at once."""
        if self._ending.is_set() and self._process:
            with suppress(ProcessLookupError):
                self._process.kill()
        self._ending.set()
        self._git.end()
        stirred.set()

    def _once(self) -> None:
        """Each part by itself: what is wrong with one holds up no other."""
        with self._troubles.guard("interrupted runs"):
            if not self._took_up:
                self._take_up()
                self._took_up = True
        with self._troubles.guard("measuring"):
            self._see_to_process()
        if self._process is not None or self._ending.is_set():
            return
        parts: dict[str, Callable[[], None]] = {"bisections": self._keep_bisections}
        if self._only is None:
            parts |= {"schedules": self._keep_schedules, "alerts": self._analyst.advance}
        for part, advance_part in parts.items():
            with self._troubles.guard(part):
                advance_part()
        with self._troubles.guard("queue"):
            self._begin_next()

    def _see_to_process(self) -> None:
        process = self._process
        if process is None:
            return
        if process.status is None:
            if self._ending.is_set() or self._is_cancelled(process.run_id):
                process.ask_to_end()
            return
        try:
            self._settle(process, process.status)
        except StoreError:
            raise  # nothing is lost: what the process left is on the disk, and this is tried again
        except Exception as error:
            self._process = None
            record(self._store, process.run_id, RunState.FAILED, f"what it left cannot be stored: {reason_of(error)}")
            raise
        self._process = None

    def _begin_next(self) -> None:
        queue = [as_queued(row) for row in self._rows()]
        for run_id, newer in superseded(queue).items():
            record(
                self._store, run_id, RunState.CANCELLED, f"superseded by run {newer}", RunReason.SUPERSEDED, (newer,)
            )
        left = [run for run in queue if run.run_id not in superseded(queue)]
        found = next_run(left, self._store.last_begun())
        if found and claim(self._store, found.run_id):
            self._begin(found)

    def _rows(self) -> list[OpenRunRow]:
        """Open runs that are this machine's, but for those that a command measures itself."""
        rows = self._store.open_run_rows()
        ours = [row for row in rows if row.pools == (LOCAL,) and row.trigger is not Trigger.COMMAND_LINE]
        if self._only is None:
            return ours
        bisection = self._store.bisection(self._only)
        runs = {each.run.run_id for each in known_of(self._store, bisection).runs} if bisection else {self._only}
        return [row for row in ours if row.run_id in runs]

    def _take_up(self) -> None:
        """See to what an earlier service had begun. Its last process may be ending still: the next one waits for it."""
        for row in self._rows():
            if row.event.state is RunState.CANCELLING:
                record(self._store, row.run_id, RunState.CANCELLED, row.event.detail)
            elif row.event.state is not RunState.QUEUED:
                record(self._store, row.run_id, RunState.QUEUED, GOES_ON)

    def _begin(self, run: QueuedRun) -> None:
        run_id = run.run_id
        try:
            self._say(f"measuring run {run_id} of {run.spec_name}")
            folder = self._installation.run_folder(run_id)
            self._process = MeasuringProcess(folder, stirred.set, self._cpus)
            self._began = (time.monotonic(), self._reading.spent_s)
        except Exception as error:
            record(self._store, run_id, RunState.FAILED, f"no process can be started: {reason_of(error)}")
            if not isinstance(error, OSError):
                raise

    def _settle(self, process: MeasuringProcess, status: int) -> None:
        """Store what a process left, and say what became of its run unless it said so itself."""
        run_id = process.run_id
        folder = self._installation.run_folder(run_id)
        if folder.exists() and not folder.is_delivered():
            with suppress(StoreError, ServiceUnavailable, ApiError):
                deliver_run(self._installation, folder)
                if status >= 0:  # else its runner may still be about to write
                    folder.mark_delivered()
        if self._store.events(run_id)[-1].state.is_open:
            record(self._store, run_id, *self._end_of(process, status))
        newest = self._store.events(run_id)[-1]
        if newest.state is RunState.FINISHED and (disturbed := self._disturbed()):
            detail = f"{newest.detail}; {disturbed}" if newest.detail else disturbed
            record(self._store, run_id, RunState.FINISHED, detail, RunReason.DISTURBED)
            newest = self._store.events(run_id)[-1]
        self._say(f"run {run_id}: {newest.state}{': ' if newest.detail else ''}{newest.detail}")

    def _disturbed(self) -> str:
        """What to say of readers beside the run that ended; nothing where there were few."""
        began_s, spent_s = self._began
        wall_s, reading_s = time.monotonic() - began_s, self._reading.spent_s - spent_s
        if reading_s < max(DISTURBING_S, DISTURBING_SHARE * wall_s):
            return ""
        return (
            f"readers of this service had {reading_s / wall_s:.1f} requests under way at a time meanwhile, which may "
            "show in the numbers: measure again while fewer read"
        )

    def _end_of(self, process: MeasuringProcess, status: int) -> tuple[RunState, str, RunReason | None]:
        if self._is_cancelled(process.run_id):
            return RunState.CANCELLED, "what is measured is kept", None
        if process.was_asked_to_end or status == INTERRUPTED:
            return RunState.QUEUED, GOES_ON, None
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return RunState.FAILED, f"the process that measured it {how}: see {process.log}", RunReason.PROCESS_ENDED

    def _is_cancelled(self, run_id: str) -> bool:
        """Whether its end was asked for since it was queued, whatever its process told afterwards."""
        states = [event.state for event in self._store.events(run_id)]
        queued = max((place for place, state in enumerate(states) if state is RunState.QUEUED), default=0)
        return RunState.CANCELLING in states[queued:]

    def _keep_schedules(self) -> None:
        schedules = [schedule for schedule in self._store.schedules() if not schedule.removed]
        if not schedules:
            return
        still_open = {row.spec_name for row in self._rows() if row.trigger is Trigger.SCHEDULE}
        open_until, now = self._store.schedules_open_until(), self._clock()
        for schedule in schedules:
            time = due(schedule, open_until.get(schedule.name), now)
            if time is None or schedule.name in still_open or self._refused.get(schedule.name) == time:
                continue
            try:
                begin_run(self._store, self._supplies, schedule.name, f"{time:%Y-%m-%dT%H:%M:%SZ}")
            except Refusal as error:
                self._refused[schedule.name] = time
                self._say(f"schedule {schedule.name}: no run of {time}: {error.detail}")

    def _keep_bisections(self) -> None:
        """Git works while nothing is measured, as building does."""
        lines = advance(self._store, self._supplies, self._only)
        for wanted in lines:
            bisection = self._store.bisection(wanted.bisection_id)
            assert bisection is not None, "it was just told"
            self._say(f"bisection {wanted.bisection_id}: looking for the commits from {wanted.good} to {wanted.bad}")
            good, bad = SubjectRef.parse(wanted.good), SubjectRef.parse(wanted.bad)
            try:
                commits = self._origin.commits(good, bad, self._say, self._git)
            except (KitError, OSError) as error:
                if not self._ending.is_set():
                    give_up_line(self._store, bisection, wanted.series, str(error))
                continue
            except Ended:
                return
            keep_line(self._store, Line(bisection_id=wanted.bisection_id, commits=commits))
        if lines:
            advance(self._store, self._supplies, self._only)
