"""Runs one job on this machine: writes its job input, starts the runner, relays its progress."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from kexbench import traces
from kexbench.domain.dimensions import Server
from kexbench.domain.plans import Job
from kexbench.domain.runs import Run
from kexbench.execution.folder import ATTEMPT, RunFolder
from kexbench.execution.measuring import Interrupts, MeasuringLock
from kexbench.execution.traced import add_invocations
from kexbench.files import write_whole
from kexbench.runner.__main__ import CANCELLED, OUT_OF_TIME
from kexbench.runner.job_input import JobInput, JobOrder


class JobEnd(Enum):
    FINISHED = "finished"
    CANCELLED = "cancelled"
    OUT_OF_TIME = "out of time"
    FAILED = "failed"


@dataclass(frozen=True)
class Places:
    """The folders that a runner needs."""

    kits: dict[str, Path]
    material: Path
    servers: dict[str, dict[Server, Path]] = field(default_factory=dict)


def run_job(
    folder: RunFolder,
    run: Run,
    job: Job,
    places: Places,
    on_progress: Callable[[str, int], None],
    interrupts: Interrupts,
    lock: MeasuringLock | None = None,
) -> JobEnd:
    """Measure the invocations that a job lacks. `on_progress` gets the case id and the number of finished invocations.
    The runner holds `lock` as well: if this process ends first, others still wait until the runner ends.

    Ctrl-C reaches the runner too, which finishes the current invocation, or dies of it while it starts; a second one
    ends it at once.
    """
    began_at = datetime.now(UTC)
    with traces.span("measure job", run.run_id, job_id=job.job_id, pool=job.pool) as measuring:
        end = _run_job(folder, run, job, places, on_progress, interrupts, lock)
        if end is JobEnd.FAILED:
            measuring.fail()
        add_invocations(run.run_id, job.job_id, folder.results(job), began_at)
    return end


def _run_job(
    folder: RunFolder,
    run: Run,
    job: Job,
    places: Places,
    on_progress: Callable[[str, int], None],
    interrupts: Interrupts,
    lock: MeasuringLock | None,
) -> JobEnd:
    write_whole(folder.job_input(job), job_input_of(folder, run, job, places).model_dump_json().encode())
    command = [sys.executable, "-m", "kexbench.runner", str(folder.job_input(job)), str(folder.log)]
    is_interrupted = False
    interrupts.hold()
    with (
        folder.log.open("ab") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, pass_fds=(lock.descriptor,) if lock else ()
        ) as runner,
    ):
        try:
            try:
                interrupts.release()
                _relay(runner, on_progress)
            except KeyboardInterrupt:
                is_interrupted = True
                _relay(runner, on_progress)
        except BaseException:
            runner.kill()
            raise
    ends = {0: JobEnd.FINISHED, CANCELLED: JobEnd.CANCELLED, OUT_OF_TIME: JobEnd.OUT_OF_TIME}
    return ends.get(runner.returncode, JobEnd.CANCELLED if is_interrupted else JobEnd.FAILED)


def _relay(runner: "subprocess.Popen[str]", on_progress: Callable[[str, int], None]) -> None:
    assert runner.stdout is not None
    for line in runner.stdout:
        progress = json.loads(line)
        on_progress(progress["case_id"], progress["done"])
    runner.wait()


def job_input_of(folder: RunFolder, run: Run, job: Job, places: Places) -> JobInput:
    """The input of a job's runner; the same for a resumed run."""
    assert run.host is not None, "a run on this machine has a host"
    order = JobOrder.of(run, job)
    return order.job_input(
        places.kits,
        places.material,
        folder.results(job),
        attempt=ATTEMPT,
        host_id=run.host.host_id,
        servers=places.servers,
    )
