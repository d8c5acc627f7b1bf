"""What a spec says of its schedule, and when a schedule's run is to begin."""

from datetime import datetime

from kexbench.domain.schedules import Schedule
from kexbench.planning.cron import EXAMPLE, last_time
from kexbench.planning.documents import DocumentError, parse_document, valid
from kexbench.planning.spec import Spec


def read_schedule(text: str, file: str) -> str:
    """The times of a spec that is to be a schedule. Raises DocumentError."""
    document = parse_document(text, file)
    spec = valid(document, Spec)
    if spec.schedule is None:
        remedy = f"say when, in UTC, such as schedule: {EXAMPLE}, or ask for one run with kexbench submit"
        raise DocumentError(file, [document.fault(("schedule",), f"is required here: {remedy}")])
    return spec.schedule


def due(schedule: Schedule, last_open: datetime | None, now: datetime) -> datetime | None:
    """The time whose run is to begin now: of those that were missed the last one. Times before the schedule was made
    what it is don't count, nor do those while a run of it was open, which it was until `last_open`."""
    if schedule.removed:
        return None
    last = last_time(schedule.cron, now)
    since = max(schedule.changed_at, last_open) if last_open else schedule.changed_at
    return last if last is not None and last > since else None
