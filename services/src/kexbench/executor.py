"""The executor: works off this machine's queue, one run after the other, each in its own process.

The store is the queue. The executor itself knows only the measuring process. If a service ends during a run, the next
service queues that run again, and the run's folder says what remains to do.
"""

import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Event

from kexbench.alerts.analyst import Analyst
from kexbench.alerts.judging import Judging
from kexbench.api.gate import Reading
from kexbench.bisection.advancing import advance, give_up_line, keep_line
from kexbench.bisection.known import known_of
from kexbench.client import ApiError, Refused, deliver_run
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
from kexbench.queue.troubles import Troubles, reason_of
from kexbench.service import ServiceUnavailable
from kexbench.store.port import OpenRunRow, Store, StoreError
from kexbench.wiring import Installation

LONGEST_WAIT_S = 20.0
"""Between two checks of the schedules; all other changes wake the executor."""
DISTURBING_S, DISTURBING_SHARE = 2.0, 0.5
"""If the requests of readers take longer, and a larger share of a run's time, the run reports it."""
GOES_ON = "interrupted: it continues when it is next in the queue"


class Executor:
    """Works in a thread of the service, and ends before the service."""

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
        """`cpus` are those that a run may use, by default those of this thread. `reading` counts the requests of
        readers. `only` limits the executor to one run or bisection."""
        self._installation = installation
        self._cpus = cpus or os.sched_getaffinity(0)
        self._troubles = troubles or Troubles()
        self._store = store
        self._supplies: Supplies | LocalSupplies = installation.supplies(store)
        self._analyst = Analyst(store, self._supplies, clock, say)
        self._judging = Judging(self._judge)
        self._say = say
        self._clock = clock
        self._ending = Event()
        self._process: MeasuringProcess | None = None
        self._reading = reading or Reading()
        self._only = only
        self._began = (0.0, 0.0)
        """When the current run began, and the time that readers had taken by then, in seconds."""
        self._origin = GitOrigin(installation.settings.cache)
        self._git = Children()
        self._refused: dict[str, datetime] = {}
        """The newest scheduled time whose run could not be planned, by the schedule's name."""

    def work(self) -> None:
        """Work until asked to end and nothing is being measured."""
        with self._judging.working():
            while True:
                stirred.clear()
                self.once()
                if self._ending.is_set() and self._process is None:
                    return
                stirred.wait(LONGEST_WAIT_S)

    def end(self) -> None:
        """End after the current invocation; a second call ends it at once."""
        if self._ending.is_set() and self._process:
            with suppress(ProcessLookupError):
                self._process.kill()
        self._ending.set()
        self._git.end()
        stirred.set()

    def once(self) -> None:
        """Look at the queue once: settle a process that has ended, and unless one still measures, begin the next run.
        Each part is guarded separately: a fault in one does not stop the others."""
        with self._troubles.guard("measuring"):
            self._check_process()
        if self._process is not None or self._ending.is_set():
            return
        parts = {"interrupted runs": self._requeue, "bisections": self._advance_bisections}
        if self._only is None:
            parts["schedules"] = self._queue_scheduled
            self._judging.request()
        for part, advance_part in parts.items():
            with self._troubles.guard(part):
                advance_part()
        with self._troubles.guard("queue"):
            self._begin_next()

    def _judge(self) -> None:
        """In a thread of its own. Runs that it queues wake the executor."""
        with self._troubles.guard("alerts"):
            self._analyst.advance()

    def _check_process(self) -> None:
        process = self._process
        if process is None:
            return
        if process.status is None:
            if self._ending.is_set() or self._is_cancelled(process.run_id):
                process.ask_to_end()
            return
        try:
            is_settled = self._settle(process, process.status)
        except StoreError:
            raise  # nothing is lost: the results are on the disk, and this is tried again
        except Exception as error:
            self._process = None
            record(self._store, process.run_id, RunState.FAILED, f"its results cannot be stored: {reason_of(error)}")
            raise
        if is_settled:
            self._process = None

    def _begin_next(self) -> None:
        queue = [as_queued(row) for row in self._rows()]
        for run_id, newer in superseded(queue).items():
            record(
                self._store, run_id, RunState.CANCELLED, f"superseded by run {newer}", RunReason.SUPERSEDED, (newer,)
            )
        waiting = [run for run in queue if run.run_id not in superseded(queue)]
        chosen = next_run(waiting, self._store.last_begun())
        if chosen and claim(self._store, chosen.run_id):
            self._begin(chosen)

    def _rows(self) -> list[OpenRunRow]:
        """This machine's open runs, except those that a command is measuring."""
        rows, folder = self._store.open_run_rows(), self._installation.run_folder
        held = {row.run_id for row in rows if row.event.reason is RunReason.BY_COMMAND and folder(row.run_id).is_held()}
        ours = [row for row in rows if row.pools == (LOCAL,) and row.run_id not in held]
        if self._only is None:
            return ours
        bisection = self._store.bisection(self._only)
        runs = {row.run.run_id for row in known_of(self._store, bisection).runs} if bisection else {self._only}
        return [row for row in ours if row.run_id in runs]

    def _requeue(self) -> None:
        """Queue the runs again that a killed command or an earlier service left. The last process of that service may
        still be ending: the next process waits for it."""
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
            record(self._store, run_id, RunState.FAILED, f"the measuring process cannot be started: {reason_of(error)}")
            if not isinstance(error, OSError):
                raise

    def _settle(self, process: MeasuringProcess, status: int) -> bool:
        """Store the results of a process, and record how its run ended unless the process did. False while the store
        has no room for them."""
        run_id = process.run_id
        folder = self._installation.run_folder(run_id)
        if folder.exists() and not folder.is_delivered():
            try:
                deliver_run(self._installation, folder)
                if status >= 0:  # otherwise its runner may still be writing
                    folder.mark_delivered()
            except (StoreError, ServiceUnavailable, ApiError) as error:
                if _is_away(error) and self._troubles.lacks_room():
                    return False  # the results are on the disk, and this is tried again
        if self._store.events(run_id)[-1].state.is_open:
            record(self._store, run_id, *self._end_of(process, status))
        newest = self._store.events(run_id)[-1]
        if newest.state.has_results and (disturbed := self._disturbed()):
            detail = f"{newest.detail}; {disturbed}" if newest.detail else disturbed
            record(self._store, run_id, newest.state, detail, RunReason.DISTURBED)
            newest = self._store.events(run_id)[-1]
        self._say(f"run {run_id}: {newest.state}{': ' if newest.detail else ''}{newest.detail}")
        return True

    def _disturbed(self) -> str:
        """The note about readers during the run that ended; empty if there were few."""
        began_s, spent_s = self._began
        wall_s, reading_s = time.monotonic() - began_s, self._reading.spent_s - spent_s
        if reading_s < max(DISTURBING_S, DISTURBING_SHARE * wall_s):
            return ""
        return (
            f"readers of this service had {reading_s / wall_s:.1f} requests open at a time during the run, which may "
            "affect the results: measure again with fewer readers"
        )

    def _end_of(self, process: MeasuringProcess, status: int) -> tuple[RunState, str, RunReason | None]:
        if self._is_cancelled(process.run_id):
            return RunState.CANCELLED, "results so far are kept", None
        if self._is_complete(process.run_id):  # it was killed between its last result and its end
            return RunState.FINISHED, "", None
        if process.was_asked_to_end or status == INTERRUPTED:
            return RunState.QUEUED, GOES_ON, None
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return RunState.FAILED, f"the measuring process {how}: see {process.log}", RunReason.PROCESS_ENDED

    def _is_complete(self, run_id: str) -> bool:
        """Of an open run. It need not be readable: an unreadable one fails, and the next run has its turn."""
        planned = {row.run_id: row.invocations for row in self._store.open_run_rows()}
        return self._store.progress([run_id])[run_id].invocations_stored >= planned[run_id]

    def _is_cancelled(self, run_id: str) -> bool:
        """Whether it was cancelled since it was queued, whatever its process reported afterwards."""
        states = [event.state for event in self._store.events(run_id)]
        last_queued = max((place for place, state in enumerate(states) if state is RunState.QUEUED), default=0)
        return RunState.CANCELLING in states[last_queued:]

    def _queue_scheduled(self) -> None:
        schedules = [schedule for schedule in self._store.schedules() if not schedule.removed]
        if not schedules:
            return
        open_specs = {row.spec_name for row in self._rows() if row.trigger is Trigger.SCHEDULE}
        open_until, now = self._store.schedules_open_until(), self._clock()
        for schedule in schedules:
            time = due(schedule, open_until.get(schedule.name), now)
            if time is None or schedule.name in open_specs or self._refused.get(schedule.name) == time:
                continue
            try:
                begin_run(self._store, self._supplies, schedule.name, f"{time:%Y-%m-%dT%H:%M:%SZ}")
            except Refusal as error:
                self._refused[schedule.name] = time
                self._say(f"schedule {schedule.name}: the run of {time} cannot be queued: {error.detail}")

    def _advance_bisections(self) -> None:
        """Git runs while nothing is measured, as builds do."""
        missing_ranges = advance(self._store, self._supplies, self._only)
        for missing in missing_ranges:
            bisection = self._store.bisection(missing.bisection_id)
            assert bisection is not None, "it was just listed"
            self._say(f"bisection {missing.bisection_id}: listing the commits from {missing.good} to {missing.bad}")
            good, bad = SubjectRef.parse(missing.good), SubjectRef.parse(missing.bad)
            try:
                commits = self._origin.commits(good, bad, self._say, self._git)
            except (KitError, OSError) as error:
                if not self._ending.is_set():
                    give_up_line(self._store, bisection, missing.series, str(error))
                continue
            except Ended:
                return
            keep_line(self._store, Line(bisection_id=missing.bisection_id, commits=commits))
        if missing_ranges:
            advance(self._store, self._supplies, self._only)


def _is_away(error: Exception) -> bool:
    return isinstance(error, Refused) and error.status == HTTPStatus.SERVICE_UNAVAILABLE
