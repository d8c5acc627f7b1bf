"""The folder of a run on this machine: its facts, tickets, results and events, each written whole.

run.json              the facts, written before anything is measured
events.ndjson         changes of state, appended
results/JOB.1.ndjson  invocations, appended by the runner
worker.log            what workers said on standard error
measuring.log         what the process said that measured it for the queue
delivered             exists once the store has everything
lock                  held by whoever measures or delivers
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kexbench.domain.plans import Job
from kexbench.domain.runs import Run, RunEvent
from kexbench.domain.samples import Invocation
from kexbench.files import write_whole
from kexbench.runner.results import append_line, read_lines, read_results

ATTEMPT = 1
"""A resumed job goes on in the same attempt: its results file says what is done."""


class RunFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def log(self) -> Path:
        return self.path / "worker.log"

    @property
    def measuring_log(self) -> Path:
        return self.path / "measuring.log"

    def ticket(self, job: Job) -> Path:
        return self.path / "tickets" / f"{job.job_id}.json"

    def results(self, job: Job) -> Path:
        return self.path / "results" / f"{job.job_id}.{ATTEMPT}.ndjson"

    def create(self, run: Run) -> None:
        write_whole(self.path / "run.json", run.model_dump_json().encode())

    def exists(self) -> bool:
        return (self.path / "run.json").exists()

    def discard(self) -> None:
        """Of a run that somebody else has started: it is no run's folder any more."""
        (self.path / "run.json").unlink()

    def run(self) -> Run:
        return Run.model_validate_json((self.path / "run.json").read_bytes())

    def invocations(self, run: Run) -> list[Invocation]:
        return [invocation for job in run.plan.jobs for invocation in read_results(self.results(job))]

    def add_event(self, event: RunEvent) -> None:
        append_line(self.path / "events.ndjson", event.model_dump_json().encode())

    def events(self) -> list[RunEvent]:
        return [RunEvent.model_validate_json(line) for line in read_lines(self.path / "events.ndjson")]

    def is_delivered(self) -> bool:
        return (self.path / "delivered").exists()

    def mark_delivered(self) -> None:
        write_whole(self.path / "delivered", b"")

    def reopen(self) -> None:
        """A resumed run has more to deliver."""
        (self.path / "delivered").unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Yields whether this process holds the folder; it never waits."""
        with (self.path / "lock").open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True


def run_folders(root: Path) -> list[RunFolder]:
    """All folders under `root` that hold a run, oldest first: run ids begin with their time."""
    return [RunFolder(path.parent) for path in sorted(root.glob("*/run.json"))]
