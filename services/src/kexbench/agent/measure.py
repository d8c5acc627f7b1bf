"""Measures a job in its pod: announces the attempt, runs the runner, and uploads what is on the disk."""

import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import FrameType
from typing import Self

from kexbench.agent.environment import JobPod
from kexbench.agent.isolation import Found, read_isolation
from kexbench.api.models import StoredInvocation
from kexbench.client import ApiClient, Refused
from kexbench.domain.plans import Isolation
from kexbench.domain.runs import JobAttempt
from kexbench.files import write_whole
from kexbench.runner.__main__ import CANCELLED
from kexbench.runner.host import read_host_facts
from kexbench.runner.results import read_results
from kexbench.runner.ticket import JobOrder

_TAKEN = 409
_ENDED = (CANCELLED, -signal.SIGTERM)
"""The runner's statuses after SIGTERM; the second one before it listens, when nothing is measured yet."""
REMEDY = (
    "give nodes the static CPU manager with whole cores only, and pods whole CPUs, "
    "or say isolation: best-effort in the spec"
)


class NotIsolated(Exception):
    """The pod has no CPUs for itself, and the spec wants them; the text says why."""


class RunnerFailed(Exception):
    """The runner ended otherwise than it should; the text says with what."""


def measure(pod: JobPod, api: ApiClient, say: Callable[[str], None]) -> bool:
    """Whether the job was measured to its end; false when a signal asked for an earlier one. What was measured is
    uploaded in any case. Raises NotIsolated, RunnerFailed, Refused and Unreachable."""
    order = JobOrder.model_validate_json(pod.order_file.read_bytes())
    isolation = read_isolation(pod.cpus)
    say(isolation.reason)
    attempt = announce(pod, api, isolation)
    say(f"attempt {attempt.attempt} at job {pod.job_id} on {pod.node_name}")
    if isolation.isolation is not Isolation.EXCLUSIVE and order.measure.isolation is Isolation.EXCLUSIVE:
        raise NotIsolated(f"{isolation.reason}; {REMEDY}")
    with _Ending() as ending:
        status = _run(pod, order, attempt, ending)
        upload(pod, api, attempt, say)
    if status not in (0, *_ENDED):
        raise RunnerFailed(f"the runner ended with status {status}")
    return status == 0


def announce(pod: JobPod, api: ApiClient, isolation: Found) -> JobAttempt:
    """Register the attempt under the first number that no other pod has: a pod that replaces another of the same try
    is told the same number by Argo."""
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


def upload(pod: JobPod, api: ApiClient, attempt: JobAttempt, say: Callable[[str], None]) -> None:
    """Send what the API lacks of this attempt, one invocation after the other."""
    stored = {
        (known.case_id, known.invocation)
        for known in api.get(list[StoredInvocation], f"/runs/{pod.run_id}/invocations?job_id={attempt.job_id}")
        if known.attempt == attempt.attempt
    }
    results = read_results(pod.work / "results.ndjson")
    say(f"uploading {len(results)} invocations")
    for invocation in results:
        if (invocation.case_id, invocation.invocation) not in stored:
            api.send("POST", f"/runs/{pod.run_id}/invocations", invocation)


class _Ending:
    """What SIGTERM does while the context lasts: it goes to the runner, which ends after the invocation under way, and
    nothing else ends, so that what was measured is uploaded for as long as the pod is left alone."""

    def __enter__(self) -> Self:
        self._asked = False
        self._runner: subprocess.Popen[bytes] | None = None
        self._before = signal.signal(signal.SIGTERM, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)

    def hand_on_to(self, runner: "subprocess.Popen[bytes]") -> None:
        """From now on; and at once, where SIGTERM came before the runner."""
        self._runner = runner
        if self._asked:
            runner.send_signal(signal.SIGTERM)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True
        if self._runner:
            self._runner.send_signal(signal.SIGTERM)


def _run(pod: JobPod, order: JobOrder, attempt: JobAttempt, ending: _Ending) -> int:
    """The runner's exit status."""
    ticket = order.ticket(
        {reference: pod.kits / kit.folder_name for reference, kit in order.kits.items()},
        pod.material,
        pod.work / "results.ndjson",
        attempt=attempt.attempt,
        host_id=attempt.host.host_id,
    )
    write_whole(pod.work / "ticket.json", ticket.model_dump_json().encode())
    command = [sys.executable, "-m", "kexbench.runner", str(pod.work / "ticket.json"), str(pod.work / "worker.log")]
    with subprocess.Popen(command) as runner:
        ending.hand_on_to(runner)
        return runner.wait()
