"""The folder of a run on this machine: its facts, job inputs, results and events, each written whole.

run.json              the facts, written before anything is measured
events.ndjson         changes of state, appended
results/JOB.1.ndjson  invocations, appended by the runner
worker.log            standard error of the workers
measuring.log         output of the process that measured it for the queue
delivered             exists once the store has everything
lock                  held by the process that measures or delivers the run
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from kexbench.domain.addresses import without_secrets
from kexbench.domain.plans import Job
from kexbench.domain.runs import Run, RunEvent
from kexbench.domain.samples import Invocation
from kexbench.files import write_whole
from kexbench.runner.results import DamagedFile, append_line, parsed_lines, read_json, read_results

_REMEDY = "restore it from a backup, or move its folder out of the folder of runs"
_TAIL_LINES, _LINE_CHARACTERS = 20, 300
_CONTROLS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Colours of a terminal, and other characters that are no text."""
ATTEMPT = 1
"""A resumed job continues the same attempt: its results file records what is done."""


class RunFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def log(self) -> Path:
        return self.path / "worker.log"

    def log_tail(self) -> list[str]:
        """The last lines of the process that measured it for the queue, as plain text without secrets."""
        try:
            with self.measuring_log.open("rb") as log:
                start = max(0, log.seek(0, os.SEEK_END) - _TAIL_LINES * _LINE_CHARACTERS)
                log.seek(start)
                lines = log.read().decode(errors="replace").splitlines()
        except FileNotFoundError:
            return []
        whole = lines[1:] if start else lines  # half an address may not look like one
        return [_plain(line) for line in whole[-_TAIL_LINES:]]

    @property
    def measuring_log(self) -> Path:
        return self.path / "measuring.log"

    def job_input(self, job: Job) -> Path:
        return self.path / "job-inputs" / f"{job.job_id}.json"

    def results(self, job: Job) -> Path:
        return self.path / "results" / f"{job.job_id}.{ATTEMPT}.ndjson"

    def content(self) -> list[Path]:
        """The files that hold what the run is and measured, without logs and marks."""
        files = [self.path / "run.json", self.path / "events.ndjson", *(self.path / "results").glob("*.ndjson")]
        return sorted(path for path in files if path.is_file())

    def create(self, run: Run) -> None:
        write_whole(self.path / "run.json", run.model_dump_json().encode())

    def exists(self) -> bool:
        return (self.path / "run.json").exists()

    def run(self) -> Run:
        """Raises DamagedFile."""
        path = self.path / "run.json"
        run = read_json(Run, path, _REMEDY)
        self._check(path, run.run_id)
        return run

    def invocations(self, run: Run) -> list[Invocation]:
        """Raises DamagedFile."""
        invocations = []
        for job in run.plan.jobs:
            for invocation in read_results(self.results(job)):
                self._check(self.results(job), invocation.run_id)
                invocations.append(invocation)
        return invocations

    def measured(self) -> dict[str, int]:
        """How many invocations of each job are on the disk, also of the job under way."""
        ending = f".{ATTEMPT}.ndjson"
        files = (self.path / "results").glob(f"*{ending}")
        return {path.name.removesuffix(ending): _lines(path, path.stat().st_size) for path in files}

    def add_event(self, event: RunEvent) -> None:
        append_line(self.path / "events.ndjson", event.model_dump_json().encode())

    def events(self) -> list[RunEvent]:
        """Raises DamagedFile."""
        path = self.path / "events.ndjson"
        events = parsed_lines(RunEvent, path, "delete that line; its change of the run's state is lost")
        for event in events:
            self._check(path, event.run_id)
        return events

    def _check(self, path: Path, run_id: str) -> None:
        if run_id != self.path.name:
            raise DamagedFile(path, f"belongs to run {run_id}, but is in the folder of run {self.path.name}", _REMEDY)

    def is_delivered(self) -> bool:
        return (self.path / "delivered").exists()

    def mark_delivered(self) -> None:
        write_whole(self.path / "delivered", b"")

    def reopen(self) -> None:
        """A resumed run has more results to deliver."""
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

    def is_held(self) -> bool:
        """Whether a process measures or delivers the run."""
        if not self.path.is_dir():
            return False
        with self.locked() as is_ours:
            return not is_ours


def run_folders(root: Path) -> list[RunFolder]:
    """All folders under `root` that hold a run or its results, oldest first, because run ids begin with their time."""
    holding = {path.parent for name in ("run.json", "results") for path in root.glob(f"*/{name}")}
    return [RunFolder(path) for path in sorted(holding)]


def _plain(line: str) -> str:
    line = without_secrets(_CONTROLS.sub("", line))
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}…"


@lru_cache(maxsize=10_000)
def _lines(path: Path, size_bytes: int) -> int:
    """Of a file that only grows: a job that is measured is counted once, not whenever somebody asks."""
    with path.open("rb") as file:
        return file.read(size_bytes).count(b"\n")
