"""Runs one job on this machine: writes its ticket, starts the runner, relays its progress."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from kexbench.domain.plans import Job
from kexbench.domain.runs import Run
from kexbench.execution.folder import ATTEMPT, RunFolder
from kexbench.execution.measuring import MeasuringLock
from kexbench.files import write_whole
from kexbench.runner.ticket import JobOrder, Ticket

_CANCELLED = 3


class JobEnd(Enum):
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True)
class Places:
    """Where the parts lie that a runner needs."""

    kits: dict[str, Path]
    material: Path


def run_job(
    folder: RunFolder,
    run: Run,
    job: Job,
    places: Places,
    on_progress: Callable[[str, int], None],
    lock: MeasuringLock | None = None,
) -> JobEnd:
    """Measure a job, or what is left of it. `on_progress` gets the case id and the number of invocations done. The
    runner holds `lock` as well: ended with this process only after its invocation, it keeps others waiting till then.

    Ctrl-C reaches the runner too, which finishes the invocation under way; a second one ends it at once.
    """
    write_whole(folder.ticket(job), ticket_of(folder, run, job, places).model_dump_json().encode())
    command = [sys.executable, "-m", "kexbench.runner", str(folder.ticket(job)), str(folder.log)]
    with (
        folder.log.open("ab") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, pass_fds=(lock.descriptor,) if lock else ()
        ) as runner,
    ):
        assert runner.stdout is not None
        try:
            try:
                _relay(runner, on_progress)
            except KeyboardInterrupt:
                _relay(runner, on_progress)
        except BaseException:
            runner.kill()
            raise
    return {0: JobEnd.FINISHED, _CANCELLED: JobEnd.CANCELLED}.get(runner.returncode, JobEnd.FAILED)


def _relay(runner: "subprocess.Popen[str]", on_progress: Callable[[str, int], None]) -> None:
    assert runner.stdout is not None
    for line in runner.stdout:
        progress = json.loads(line)
        on_progress(progress["case_id"], progress["done"])
    runner.wait()


def ticket_of(folder: RunFolder, run: Run, job: Job, places: Places) -> Ticket:
    """All that the runner of a job is told; the same for a resumed run."""
    assert run.host is not None, "this machine measures by itself"
    order = JobOrder.of(run, job)
    return order.ticket(places.kits, places.material, folder.results(job), attempt=ATTEMPT, host_id=run.host.host_id)
