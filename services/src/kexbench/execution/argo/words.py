"""What people read of a run on a cluster: what happened, where, and what to do about it."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from kexbench.domain.plans import Job
from kexbench.execution.argo.cluster import Phase, PodView, TaskView, WorkflowView
from kexbench.execution.argo.workflows import LOST, RETRIES, WantedKit

GOES_ON = "what was waited for is there: the run goes on"
RESUME = "resume the run to measure what is left"
_LISTED = 3
_LONGEST = 400
_IMAGE_REASONS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
_REMEDIES = (
    (r"exit code 2\)", "the job can't be run as it is: look at what its pod said"),
    (r"exit code 3\)", f"its pod was ended while it measured, {RETRIES + 1} times: look who deletes pods on its node"),
    (
        r"exit code 4\)",
        "its cores were not its own: set the static CPU manager on the nodes, or isolation: best-effort in the spec",
    ),
    (r"exit code 5\)", "the API refused it: look at the log of the API"),
    (r"OOMKilled|exit code 137\)", "it ran out of memory: give the pool more"),
    ("longer than the specified deadline|DeadlineExceeded", "it took far longer than estimated: raise maxDuration"),
    (
        r"exit code 143\)|pod deleted",
        f"its pod was ended, {RETRIES + 1} times: look who drains nodes or deletes pods",
    ),
    (LOST, f"its node was lost or drained, {RETRIES + 1} times: look at the node"),
)

_ENDED = (
    # What a number, or a word of Argo's, means of a pod that was lost.
    (r"exit code (3|143)\)", "somebody asked its pod to end"),
    (r"exit code 137\)|OOMKilled", "it was killed, as for want of memory"),
    ("pod deleted", "somebody deleted its pod, or its node is gone"),
)


def superseded(newer: str) -> str:
    return f"superseded by run {newer}"


def building(missing: Sequence[WantedKit]) -> str:
    return f"building {_count(len(missing), 'kit')}: {_some(map(str, missing))}"


def waits_for(run_id: str) -> str:
    return f"waits for run {run_id}, which has the nodes"


def kits_gone(missing: Sequence[WantedKit], workflow: str) -> str:
    return (
        f"workflow {workflow}, which built {_count(len(missing), 'kit')} ({_some(map(str, missing))}), is gone: "
        f"somebody deleted it. To build them after all, resume the run"
    )


def kits_unbuilt(missing: Sequence[WantedKit], workflow: WorkflowView) -> str:
    """The workflow ended and the kits aren't there."""
    badly = (Phase.FAILED, Phase.ERROR)
    said = {task.of: _said(task.message) for task in workflow.tasks if task.message and task.phase in badly}
    told = [f"{kit}: {said[kit.reference]}" if kit.reference in said else str(kit) for kit in missing]
    reason = "" if said or not workflow.message else f" ({_said(workflow.message)})"
    return (
        f"{_count(len(missing), 'kit')} could not be built{reason}: {_some(told, '; ')}. "
        f"Look at the pods of workflow {workflow.name}, mend the source in the catalogue, and resume the run"
    )


def no_line(workflow: WorkflowView) -> str:
    """The workflow ended and the commits of a bisection were not told."""
    said = next((task.message for task in workflow.tasks if task.message), workflow.message)
    return (
        f"its commits could not be found: {_said(said) or 'no reason given'}. Look at the pod of workflow "
        f"{workflow.name}, and resume the bisection"
    )


def submitted(jobs: Sequence[Job]) -> str:
    by_pool = groupby(sorted(jobs, key=lambda job: job.pool), key=lambda job: job.pool)
    return "jobs submitted: " + ", ".join(f"{len(list(own))} to pool {pool}" for pool, own in by_pool)


def unknown_pools(pools: Sequence[str]) -> str:
    return (
        f"there is no pool {' and no pool '.join(pools)} on this cluster any more: "
        "bring it back among the pools and resume the run, or name another in the spec"
    )


def no_node(pool: str) -> str:
    return f"pool {pool} has no ready node: add one with the pool's labels, or look why its nodes are not ready"


def waits(pods: Sequence[PodView], pool: str) -> str:
    """Of pods of one pool that wait for one reason."""
    pod = pods[0]
    told = f"{_count(len(pods), 'pod')} of pool {pool} can't start: {pod.reason or 'no reason is told'}"
    if pod.message:
        told += f": {_said(pod.message)}"
    if pod.reason in _IMAGE_REASONS:
        return f"{told}. Push the image, or set its name right and let the nodes pull it"
    if pod.reason == "Unschedulable":
        return f"{told}. Do the pool's nodes have its labels, its CPUs and memory, and only taints it tolerates?"
    return f"{told}. Look at pod {pod.name}"


def _why_lost(message: str) -> str:
    """What Argo says of a pod that was lost, and what that means where it is a number."""
    meaning = next((meaning for pattern, meaning in _ENDED if re.search(pattern, message)), "")
    return f"{meaning}: {_said(message)}" if meaning else _said(message)


def tried_again(tasks: Sequence[TaskView]) -> str:
    """Of tasks, at least one, that are tried again."""
    if len(tasks) > 1:
        return f"{_some(task.of for task in tasks)} were lost ({_why_lost(tasks[0].message)}) and are tried again"
    (task,) = tasks
    return f"{task.of} was lost ({_why_lost(task.message)}) and is tried again, {task.retries} of {RETRIES} times"


def disrupted(pods: Sequence[PodView]) -> str:
    """Of pods, at least one, that Kubernetes ends."""
    pod = pods[0]
    more = f" and {_count(len(pods) - 1, 'more pod')}" if len(pods) > 1 else ""
    return f"pod {pod.name}{more} on node {pod.node} is being ended by Kubernetes: {_said(pod.disruption)}"


def nodes_away(nodes: Sequence[str], tasks: Sequence[str]) -> str:
    """Of nodes, at least one, and what runs there."""
    if len(nodes) > 1:
        return (
            f"{len(nodes):,} nodes ({_some(nodes)}) are not ready, or cordoned, while {_count(len(tasks), 'task')} "
            "run on them: should they be lost, delete them from the cluster, and what ran there is tried again"
        )
    return (
        f"node {nodes[0]} is not ready, or cordoned, while {_some(tasks)} runs on it: "
        "should it be lost, delete it from the cluster, and what ran there is tried again"
    )


def unseen(workflow: WorkflowView) -> str:
    return (
        f"Argo's workflow controller has not looked at workflow {workflow.name} yet: "
        "is it running, and does it watch the namespace?"
    )


def lost(jobs: Sequence[Job]) -> str:
    named = _some(job.job_id for job in jobs)
    return f"the workflow of {_count(len(jobs), 'job')} ({named}) is gone: somebody deleted it"


def given_up(notes: Sequence[str], pending_after_s: float, stored: int, total: int) -> str:
    return (
        f"given up after {pending_after_s / 60:.0f} minutes of waiting: {'; '.join(notes)}. "
        f"{_stored(stored, total)}; then {RESUME}"
    )


def finished(failed: Sequence[TaskView]) -> str:
    """Nothing, but for jobs that delivered everything and still ended badly."""
    return f"everything is stored, but {_failures(failed)}" if failed else ""


def unfinished(failed: Sequence[TaskView], gone: Sequence[Job], silent: Sequence[Job], stored: int, total: int) -> str:
    """The jobs ended without all invocations: those that failed, whose workflow is gone, and that ended well."""
    parts = [_failures(failed)] if failed else []
    if gone:
        parts.append(lost(gone))
    if silent:
        named = _some(job.job_id for job in silent)
        parts.append(f"{_count(len(silent), 'job')} ended without all results ({named}): look at the log of the API")
    return f"{'; '.join(parts)}. {_stored(stored, total)}; {RESUME}"


def cancelled(stored: int, total: int) -> str:
    return f"cancelled. {_stored(stored, total)}; {RESUME}"


def _failures(failed: Sequence[TaskView]) -> str:
    """Each failure once, with the jobs and nodes it happened to."""
    told = []
    by_message = sorted(failed, key=lambda task: (task.message, task.of))
    for message, group in groupby(by_message, key=lambda task: task.message):
        tasks = list(group)
        nodes = sorted({task.node for task in tasks if task.node})
        where = f" on {_some(nodes)}" if nodes else ""
        remedy = next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, message)), "")
        jobs = f"{_count(len(tasks), 'job')} ({_some(task.of for task in tasks)}){where}"
        told.append(f"{jobs}: {_said(message) or 'no reason given'}" + (f": {remedy}" if remedy else ""))
    return "; ".join(told)


def _stored(stored: int, total: int) -> str:
    return f"{stored:,} of {total:,} invocations are stored"


def _said(message: str) -> str:
    """What others say, on one line and of some length."""
    line = " ".join(message.split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _some(named: Iterable[str], separator: str = ", ") -> str:
    every = list(named)
    more = len(every) - _LISTED
    return separator.join(every[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
