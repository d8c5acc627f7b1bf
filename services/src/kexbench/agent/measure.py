"""Measures a job in its pod: announces the attempt, starts the runner, and uploads its results."""

import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import FrameType
from typing import Self

from kexbench import traces
from kexbench.agent.environment import JobPod
from kexbench.agent.isolation import Found, read_isolation
from kexbench.api.models import StoredInvocation
from kexbench.client import ApiClient, Refused
from kexbench.domain.numbers import counted
from kexbench.domain.plans import Isolation
from kexbench.domain.runs import JobAttempt
from kexbench.execution.traced import add_invocations
from kexbench.files import write_whole
from kexbench.runner.__main__ import CANCELLED, OUT_OF_TIME
from kexbench.runner.host import read_host_facts
from kexbench.runner.job_input import JobOrder, StoredResult
from kexbench.runner.results import read_results

_TAKEN = 409
_ENDED = (CANCELLED, -signal.SIGTERM)
"""The runner's statuses after SIGTERM: the second one if it came before the runner handles it."""
_ENDS = (0, OUT_OF_TIME, *_ENDED)
"""The runner's statuses that are no failure."""
REMEDY = (
    "enable the static CPU manager with full-pcpus-only on the nodes and request whole CPUs, "
    "or set isolation: best-effort in the spec"
)


class NotIsolated(Exception):
    """The spec requires exclusive CPUs and the pod has none. The text says why."""


class RunnerFailed(Exception):
    """The runner failed. The text contains its exit status."""


def measure(pod: JobPod, api: ApiClient, say: Callable[[str], None]) -> bool:
    """True if what the API lacks of the job was measured, as far as its time allowed, False if a signal ended it early.
    Results are uploaded in both cases. Raises NotIsolated, RunnerFailed, Refused and Unreachable."""
    order = JobOrder.model_validate_json(pod.order_file.read_bytes())
    isolation = read_isolation(pod.cpus)
    say(isolation.reason)
    attempt = announce(pod, api, isolation)
    say(f"attempt {attempt.attempt} of job {pod.job_id} on {pod.node_name}")
    if isolation.isolation is not Isolation.EXCLUSIVE and order.measure.isolation is Isolation.EXCLUSIVE:
        raise NotIsolated(f"{isolation.reason}; {REMEDY}")
    known = stored_of(pod, api)
    if known:
        say(f"{counted(len({(row.case_id, row.invocation) for row in known}), 'invocation')} measured before")
    with _Ending() as ending:
        status = _traced_run(pod, order, attempt, known, ending)
        with traces.span("upload results", pod.run_id, job_id=pod.job_id):
            upload(pod, api, attempt, say)
    if status not in _ENDS:
        raise RunnerFailed(f"the runner failed with exit status {status}")
    return status in (0, OUT_OF_TIME)


def announce(pod: JobPod, api: ApiClient, isolation: Found) -> JobAttempt:
    """Register the attempt under the first number that no other pod has: Argo gives the same number to a pod that
    replaces another."""
    number = pod.attempt
    while True:
        attempt = JobAttempt(
            run_id=pod.run_id,
            job_id=pod.job_id,
            attempt=number,
            host=read_host_facts(),
            isolation=isolation.isolation,
            node=pod.node_name,
            pod=pod.pod_name,
            pod_uid=pod.pod_uid,
            started_at=datetime.now(UTC),
        )
        try:
            api.send("PUT", f"{pod.path}/attempts/{number}", attempt)
        except Refused as refused:
            if refused.status != _TAKEN:
                raise
            number += 1
        else:
            return attempt


def stored_of(pod: JobPod, api: ApiClient) -> list[StoredInvocation]:
    """What the API has of the job, from all attempts."""
    return api.get(list[StoredInvocation], f"/runs/{pod.run_id}/invocations?job_id={pod.job_id}")


def upload(pod: JobPod, api: ApiClient, attempt: JobAttempt, say: Callable[[str], None]) -> None:
    """Send the invocations of this attempt that the API lacks, several at a time."""
    stored = {(row.case_id, row.invocation) for row in stored_of(pod, api) if row.attempt == attempt.attempt}
    results = read_results(pod.work / "results.ndjson")
    say(f"uploading {counted(len(results), 'invocation')}")
    missing = [each for each in results if (each.case_id, each.invocation) not in stored]
    for _ in api.add_invocations(pod.run_id, missing):
        pass


class _Ending:
    """Forwards SIGTERM to the runner while the context lasts. The runner ends after its current invocation, and this
    process then uploads the results, as long as Kubernetes lets the pod run."""

    def __enter__(self) -> Self:
        self._requested = False
        self._runner: subprocess.Popen[bytes] | None = None
        self._previous_handler = signal.signal(signal.SIGTERM, self._end)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._previous_handler)

    def forward_to(self, runner: "subprocess.Popen[bytes]") -> None:
        """Forward SIGTERM to this runner, at once if it came before the runner started."""
        self._runner = runner
        if self._requested:
            runner.send_signal(signal.SIGTERM)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._requested = True
        if self._runner:
            self._runner.send_signal(signal.SIGTERM)


def _traced_run(
    pod: JobPod, order: JobOrder, attempt: JobAttempt, known: Sequence[StoredInvocation], ending: _Ending
) -> int:
    """As `_run`. The spans of what the runner measured are added when it has ended: it knows nothing of traces."""
    began_at = datetime.now(UTC)
    facts = {"job_id": pod.job_id, "pool": order.job.pool, "node": pod.node_name}
    with traces.span("measure job", pod.run_id, **facts, attempt=attempt.attempt) as measuring:
        status = _run(pod, order, attempt, known, ending)
        if status not in _ENDS:
            measuring.fail()
        add_invocations(pod.run_id, pod.job_id, pod.work / "results.ndjson", began_at)
    return status


def _run(pod: JobPod, order: JobOrder, attempt: JobAttempt, known: Sequence[StoredInvocation], ending: _Ending) -> int:
    """The runner's exit status."""
    job_input = order.job_input(
        {reference: pod.kits / kit.folder_name for reference, kit in order.kits.items()},
        pod.material,
        pod.work / "results.ndjson",
        attempt=attempt.attempt,
        host_id=attempt.host.host_id,
        stored=[
            StoredResult(case_id=row.case_id, invocation=row.invocation, hopeless=tuple(row.hopeless)) for row in known
        ],
    )
    write_whole(pod.work / "job-input.json", job_input.model_dump_json().encode())
    command = [sys.executable, "-m", "kexbench.runner", str(pod.work / "job-input.json"), str(pod.work / "worker.log")]
    with subprocess.Popen(command) as runner:
        ending.forward_to(runner)
        return runner.wait()
