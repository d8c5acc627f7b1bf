"""Names and labels of what kexbench puts on a cluster. Deterministic, so that submitting twice is submitting once."""

import re

from kexbench.domain.canonical import content_hash

PART_OF, KEXBENCH = "app.kubernetes.io/part-of", "kexbench"
RUN, SERIES, JOB, POOL, SPEC, SCHEDULE = (
    f"kexbench.dev/{name}" for name in ("run", "series", "job", "pool", "spec", "schedule")
)
PLAN, REFERENCE, ARCHITECTURE, CONTENT = (
    f"kexbench.dev/{name}" for name in ("plan", "reference", "architecture", "content")
)
"""Annotations: what may be longer than a label's value."""
_LONGEST = 63
"""Of a label's value; Argo puts a workflow's name in one."""
_LONGEST_CRON = 52
"""Argo appends a time to it."""
_DNS_1123 = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


def job_workflow_name(run_id: str, series: int, number: int) -> str:
    return _dns_name(f"kexbench-run-{run_id}-{series}-{number}")


def kits_workflow_name(run_id: str, series: int) -> str:
    """One name a series: what was missing may change while it is built, and nothing is to be built twice."""
    return _dns_name(f"kexbench-kits-{run_id}-{series}")


def line_workflow_name(bisection_id: str, series: int) -> str:
    return _dns_name(f"kexbench-line-{bisection_id}-{series}")


def cron_workflow_name(schedule: str) -> str:
    return _dns_name(f"kexbench-schedule-{schedule}", _LONGEST_CRON)


def schedule_labels(schedule: str) -> dict[str, str]:
    """What the CronWorkflow of a schedule, its workflows and their pods have."""
    return {PART_OF: KEXBENCH, SCHEDULE: schedule}


def labels_of(run_id: str, series: int) -> dict[str, str]:
    """What all workflows and pods of a run's series have."""
    return {PART_OF: KEXBENCH, RUN: run_id, SERIES: str(series)}


def _dns_name(name: str, longest: int = _LONGEST) -> str:
    """The name itself where Kubernetes takes it; otherwise as much of it as goes, and a hash of all of it."""
    if len(name) <= longest and re.fullmatch(_DNS_1123, name):
        return name
    tail = content_hash(name, length=10)
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower())[: longest - len(tail) - 1].rstrip("-")
    return f"{plain}-{tail}"
