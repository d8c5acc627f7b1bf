"""Names and labels of kexbench's objects on a cluster. Names are deterministic, so submitting twice has no effect."""

import re

from kexbench.domain.canonical import content_hash

PART_OF, KEXBENCH = "app.kubernetes.io/part-of", "kexbench"
RUN, SERIES, JOB, POOL, SPEC, SCHEDULE = (
    f"kexbench.dev/{name}" for name in ("run", "series", "job", "pool", "spec", "schedule")
)
PLAN, REFERENCE, ARCHITECTURE, CONTENT = (
    f"kexbench.dev/{name}" for name in ("plan", "reference", "architecture", "content")
)
"""Annotations, whose values may be longer than those of labels."""
_LONGEST = 63
"""Limit of a label's value; Argo puts a workflow's name in one."""
_LONGEST_CRON = 52
"""Limit of a CronWorkflow's name, because Argo appends a time to it."""
_DNS_1123 = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


def job_workflow_name(run_id: str, series: int, number: int) -> str:
    return _dns_name(f"kexbench-run-{run_id}-{series}-{number}")


def kits_workflow_name(run_id: str, series: int) -> str:
    """One name for each submission: the set of missing kits may change during the build, and no kit is built twice."""
    return _dns_name(f"kexbench-kits-{run_id}-{series}")


def line_workflow_name(bisection_id: str, series: int) -> str:
    return _dns_name(f"kexbench-line-{bisection_id}-{series}")


def cron_workflow_name(schedule: str) -> str:
    return _dns_name(f"kexbench-schedule-{schedule}", _LONGEST_CRON)


def schedule_labels(schedule: str) -> dict[str, str]:
    """Labels of the CronWorkflow of a schedule, its workflows and their pods."""
    return {PART_OF: KEXBENCH, SCHEDULE: schedule}


def labels_of(run_id: str, series: int) -> dict[str, str]:
    """Labels of all workflows and pods of one submission of a run."""
    return {PART_OF: KEXBENCH, RUN: run_id, SERIES: str(series)}


def _dns_name(name: str, longest: int = _LONGEST) -> str:
    """The name if Kubernetes accepts it; otherwise a shortened name with a hash of the full name."""
    if len(name) <= longest and re.fullmatch(_DNS_1123, name):
        return name
    tail = content_hash(name, length=10)
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower())[: longest - len(tail) - 1].rstrip("-")
    return f"{plain}-{tail}"
