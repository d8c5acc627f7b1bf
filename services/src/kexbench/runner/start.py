"""Fresh processes of a subject: the request to a worker, and the samples of its answer."""

from kexbench.domain.cases import Case
from kexbench.domain.metrics import STARTED, Metric
from kexbench.domain.plans import HEAP_STARTS
from kexbench.domain.samples import Sample
from kexbench.runner.participant import (
    SECONDS_PER_SERVER_NAME,
    Setting,
    expect,
    setup_request,
    setup_timeout_s,
    worker_faults,
)
from kexbench.runner.records import Ready, StartedProcesses

LONGEST_START_S = 30.0
"""The worker's own limit of a process's start, to which each server name adds (workers/handshake/start.c)."""
_ENOUGH_S, _MARGIN_S = 5 * LONGEST_START_S, 15.0


def start_request(case: Case, processes: int) -> str:
    """The `start` line of a case."""
    return f"start id={case.case_id} processes={processes}"


def start_timeout_s(case: Case, processes: int) -> float:
    """The time within which a worker answers. Not all processes may take as long as one may."""
    return _ENOUGH_S + processes * (1 + SECONDS_PER_SERVER_NAME * (case.server_names - 1)) + _MARGIN_S


def start_processes(setting: Setting, reference: str) -> list[Sample]:
    """The samples of one subject's processes. A worker of their own starts them, and another one those whose heap is
    counted, since that slows allocations down. Raises Dropped."""
    processes = setting.job_input.measure.starts
    timed = _started(setting, reference, processes, count_heap=False)
    counted = _started(setting, reference, min(HEAP_STARTS, processes), count_heap=True)
    return start_samples(reference, timed, counted)


def _started(setting: Setting, reference: str, processes: int, *, count_heap: bool) -> StartedProcesses:
    case = setting.case
    with setting.launch(reference, count_heap=count_heap) as worker, worker_faults():
        expect(Ready, worker.ask(setup_request(case, setting.files), setup_timeout_s(case)))
        return expect(StartedProcesses, worker.ask(start_request(case, processes), start_timeout_s(case, processes)))


def start_samples(reference: str, timed: StartedProcesses, counted: StartedProcesses) -> list[Sample]:
    """A value for each process. What this library or this machine does not tell has no sample."""
    records = {metric: counted if metric is Metric.START_HEAP_BYTES else timed for metric in STARTED}
    return [
        Sample(subject=reference, metric=metric, values=tuple(map(float, values)))
        for metric, record in records.items()
        if (values := record.each(STARTED[metric].array)) is not None
    ]
