"""The schedule of a spec, and when a schedule's run is due."""

from datetime import datetime

from kexbench.domain.schedules import Schedule
from kexbench.planning.cron import EXAMPLE, last_time
from kexbench.planning.documents import DocumentError, parse_document, valid
from kexbench.planning.spec import Spec


def read_schedule(text: str, file: str) -> str:
    """The times of a spec that must have a schedule. Raises DocumentError."""
    document = parse_document(text, file)
    spec = valid(document, Spec)
    if spec.schedule is None:
        remedy = f"add times in UTC, such as schedule: {EXAMPLE}, or queue a single run with kexbench submit"
        raise DocumentError(file, [document.fault(("schedule",), f"is required here: {remedy}")])
    return spec.schedule


def due(schedule: Schedule, last_open: datetime | None, now: datetime) -> datetime | None:
    """The time whose run is due now: the last of those that were missed. Times before the schedule last changed don't
    count, nor do times while a run of it was open, until `last_open`."""
    if schedule.removed:
        return None
    last = last_time(schedule.cron, now)
    since = max(schedule.changed_at, last_open) if last_open else schedule.changed_at
    return last if last is not None and last > since else None
