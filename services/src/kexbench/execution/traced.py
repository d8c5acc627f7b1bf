"""What a runner measured, as spans. The process that started it adds them afterwards: the runner sends nothing."""

from datetime import UTC, datetime
from pathlib import Path

from kexbench import traces
from kexbench.domain.moments import in_milliseconds
from kexbench.runner.results import read_results

MOST_BATCHES = 10
"""Spans of one job's invocations, so that a trace stays readable."""


def add_invocations(run_id: str, job_id: str, results: Path, since: datetime) -> None:
    """Add spans of the invocations in a file of results that began since then, in their order, several to a span if
    there are many. Does nothing if traces are off. Raises DamagedFile."""
    if not traces.are_on():
        return
    since = in_milliseconds(since)
    measured = [(datetime.fromisoformat(each.started_at), each.case_id) for each in read_results(results)]
    measured = sorted(each for each in measured if each[0] >= since)
    size = max(1, -(-len(measured) // MOST_BATCHES))
    ended_at = datetime.now(UTC)
    for place in range(0, len(measured), size):
        batch, following = measured[place : place + size], measured[place + size : place + size + 1]
        case_ids = sorted({case_id for _, case_id in batch})
        until = following[0][0] if following else ended_at
        facts: dict[str, traces.Attribute] = {"job_id": job_id, "case_ids": case_ids, "invocations": len(batch)}
        traces.add("measure invocations", run_id, (batch[0][0], until), facts)
