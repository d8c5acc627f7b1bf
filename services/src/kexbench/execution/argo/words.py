"""What people read about a run on a cluster: what happened, where, and what to do about it."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from kexbench.domain.numbers import counted
from kexbench.domain.plans import Job
from kexbench.execution.argo.cluster import Phase, PodView, TaskView, WorkflowView
from kexbench.execution.argo.workflows import LOST, RETRIES, WantedKit

GOES_ON = "nothing is missing any more: the run continues"
RESUME = "resume the run to measure the rest"
_LISTED = 3
_LONGEST = 400
_IMAGE_REASONS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_REMEDIES = (
    (r"exit code 2\)", "the job cannot run: see the log of its pod"),
    (r"exit code 3\)", f"its pod was stopped while measuring, {RETRIES + 1} times: find out who deletes its pods"),
    (
        r"exit code 4\)",
        "its cores were shared: enable the static CPU manager on the nodes, or set isolation: best-effort in the spec",
    ),
    (r"exit code 5\)", "the API refused it: see the log of the API"),
    (r"OOMKilled|exit code 137\)", "it ran out of memory: give the pool more memory"),
    ("longer than the specified deadline|DeadlineExceeded", "it took far longer than estimated: raise maxDuration"),
    (
        r"exit code 143\)|pod deleted",
        f"its pod was stopped, {RETRIES + 1} times: find out who drains nodes or deletes pods",
    ),
    (LOST, f"its node was lost or drained, {RETRIES + 1} times: check the node"),
)

_ENDED = (
    # What an exit code or a word of Argo means for a lost pod.
    (r"exit code (3|143)\)", "its pod was asked to stop"),
    (r"exit code 137\)|OOMKilled", "it was killed, possibly for lack of memory"),
    ("pod deleted", "its pod was deleted, or its node is gone"),
)


def superseded(newer: str) -> str:
    return f"superseded by run {newer}"


def building(missing: Sequence[WantedKit]) -> str:
    return f"building {counted(len(missing), 'kit')}: {_some(map(str, missing))}"


WAITS_ITS_TURN = "waits for its turn: runs before it in the queue have the nodes"


def kits_gone(missing: Sequence[WantedKit], workflow: str) -> str:
    return (
        f"workflow {workflow} was deleted before it built {counted(len(missing), 'kit')} ({_some(map(str, missing))}). "
        "Resume the run to build them"
    )


def kits_unbuilt(missing: Sequence[WantedKit], workflow: WorkflowView) -> str:
    """The workflow ended without the kits."""
    badly = (Phase.FAILED, Phase.ERROR)
    messages = {task.of: _short(task.message) for task in workflow.tasks if task.message and task.phase in badly}
    failures = [f"{kit}: {messages[kit.reference]}" if kit.reference in messages else str(kit) for kit in missing]
    reason = "" if messages or not workflow.message else f" ({_short(workflow.message)})"
    return (
        f"{counted(len(missing), 'kit')} could not be built{reason}: {_some(failures, '; ')}. "
        f"Check the pods of workflow {workflow.name}, fix the source in the catalogue, and resume the run"
    )


def no_line(workflow: WorkflowView) -> str:
    """The workflow ended without the commits of a bisection."""
    message = next((task.message for task in workflow.tasks if task.message), workflow.message)
    return (
        f"its commits could not be found: {_short(message) or 'no reason given'}. Check the pod of workflow "
        f"{workflow.name}, and resume the bisection"
    )


def submitted(jobs: Sequence[Job]) -> str:
    by_pool = groupby(sorted(jobs, key=lambda job: job.pool), key=lambda job: job.pool)
    return "jobs submitted: " + ", ".join(f"{len(list(own))} to pool {pool}" for pool, own in by_pool)


def unknown_pools(pools: Sequence[str], running: Sequence[str] = ()) -> str:
    """`running`: the jobs that still run on nodes of these pools."""
    gone = f"there is no pool {' and no pool '.join(pools)} on this cluster any more"
    if running:
        run = "runs" if len(running) == 1 else "run"
        return f"{gone}, but {_some(running)} still {run} on its nodes: restore the pool, or let them end"
    return f"{gone}: restore the pool and resume the run, or name another pool in the spec"


def no_node(pool: str) -> str:
    return f"pool {pool} has no ready node: add a node with the pool's labels, or check why its nodes are not ready"


def waits(pods: Sequence[PodView], pool: str) -> str:
    """For pods of one pool that wait for one reason."""
    pod = pods[0]
    trouble = f"{counted(len(pods), 'pod')} of pool {pool} cannot start: {pod.reason or 'no reason given'}"
    if pod.message:
        trouble += f": {_short(pod.message)}"
    if pod.reason in _IMAGE_REASONS:
        return f"{trouble}. Push the image, or correct its name and let the nodes pull it"
    if pod.reason == "Unschedulable":
        return f"{trouble}. Check that the pool's nodes have its labels, CPUs and memory, and only taints it tolerates"
    return f"{trouble}. Check pod {pod.name}"


def _why_lost(message: str) -> str:
    """Argo's message about a lost pod, with its meaning if it is a number."""
    meaning = next((meaning for pattern, meaning in _ENDED if re.search(pattern, message)), "")
    return f"{meaning}: {_short(message)}" if meaning else _short(message)


def tried_again(tasks: Sequence[TaskView]) -> str:
    """For one or more tasks that are retried, or were, if their retries have ended."""
    ended = all(task.phase.has_ended for task in tasks)
    if len(tasks) > 1:
        named, why = _some(task.of for task in tasks), _why_lost(tasks[0].message)
        return f"{named} were lost ({why}) and {'were' if ended else 'are'} retried"
    (task,) = tasks
    retried = f"{'was' if ended else 'is'} retried ({task.retries} of {RETRIES})"
    return f"{task.of} was lost ({_why_lost(task.message)}) and {retried}"


def disrupted(pods: Sequence[PodView]) -> str:
    """For one or more pods that Kubernetes stops."""
    pod = pods[0]
    more = f" and {counted(len(pods) - 1, 'more pod')}" if len(pods) > 1 else ""
    return f"Kubernetes is stopping pod {pod.name}{more} on node {pod.node}: {_short(pod.disruption)}"


def nodes_away(nodes: Sequence[str], tasks: Sequence[str]) -> str:
    """For one or more nodes, and the tasks that run there."""
    if len(nodes) > 1:
        return (
            f"{len(nodes):,} nodes ({_some(nodes)}) are not ready, or cordoned, while {counted(len(tasks), 'task')} "
            "run on them. If they are lost, delete them from the cluster: their tasks are then retried"
        )
    return (
        f"node {nodes[0]} is not ready, or cordoned, while {_some(tasks)} runs on it. "
        "If it is lost, delete it from the cluster: its tasks are then retried"
    )


def nodes_without_labels(nodes: Sequence[str], tasks: Sequence[str]) -> str:
    """For one or more ready nodes without their pool's labels, and the tasks that run there."""
    subject = f"node {nodes[0]} has" if len(nodes) == 1 else f"{len(nodes):,} nodes ({_some(nodes)}) have"
    named, run = _some(tasks), "runs" if len(tasks) == 1 else "run"
    return (
        f"{subject} no labels of a pool of the run any more, while {named} still {run} there: "
        "give the labels back, or let the tasks end"
    )


def unseen(workflow: WorkflowView) -> str:
    return (
        f"Argo's workflow controller has not processed workflow {workflow.name} yet: "
        "check that it runs and watches the namespace"
    )


def lost(jobs: Sequence[Job]) -> str:
    named = _some(job.job_id for job in jobs)
    return f"the workflow of {counted(len(jobs), 'job')} ({named}) was deleted"


def given_up(notes: Sequence[str], pending_after_s: float, stored: int, total: int) -> str:
    return (
        f"gave up after {pending_after_s / 60:.0f} minutes of waiting: {'; '.join(notes)}. "
        f"{_stored(stored, total)}; then {RESUME}"
    )


def finished(failed: Sequence[TaskView]) -> str:
    """Empty, except for jobs that delivered everything and still failed."""
    return f"all results are stored, but {_failures(failed)}" if failed else ""


def unfinished(failed: Sequence[TaskView], gone: Sequence[Job], silent: Sequence[Job], stored: int, total: int) -> str:
    """The jobs ended without all invocations: some failed, some lost their workflow, some ended without an error."""
    parts = [_failures(failed)] if failed else []
    if gone:
        parts.append(lost(gone))
    if silent:
        named = _some(job.job_id for job in silent)
        parts.append(
            f"{counted(len(silent), 'job')} ended before all was measured ({named}): their time was up (maxDuration)"
        )
    return f"{'; '.join(parts)}. {_stored(stored, total)}; {RESUME}"


def cancelled(stored: int, total: int) -> str:
    return f"cancelled. {_stored(stored, total)}; {RESUME}"


def _failures(failed: Sequence[TaskView]) -> str:
    """Each failure once, with its jobs and nodes."""
    failures = []
    by_message = sorted(failed, key=lambda task: (task.message, task.of))
    for message, group in groupby(by_message, key=lambda task: task.message):
        tasks = list(group)
        nodes = sorted({task.node for task in tasks if task.node})
        where = f" on {_some(nodes)}" if nodes else ""
        remedy = next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, message)), "")
        jobs = f"{counted(len(tasks), 'job')} ({_some(task.of for task in tasks)}){where}"
        failures.append(f"{jobs}: {_short(message) or 'no reason given'}" + (f": {remedy}" if remedy else ""))
    return "; ".join(failures)


def _stored(stored: int, total: int) -> str:
    return f"{stored:,} of {total:,} invocations are stored"


def _short(message: str) -> str:
    """A message of Argo or Kubernetes, on one line of limited length."""
    line = " ".join(message.split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _some(named: Iterable[str], separator: str = ", ") -> str:
    names = list(named)
    more = len(names) - _LISTED
    return separator.join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
