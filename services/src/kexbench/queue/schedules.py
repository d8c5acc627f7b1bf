"""Runs of schedules, one for each scheduled time."""

from datetime import UTC, datetime, timedelta

from kexbench.domain.canonical import content_hash
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.runs import Trigger
from kexbench.domain.schedules import Schedule, ScheduledRun
from kexbench.queue.runs import one_at_a_time, planned, queue_run
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import RunStore, ScheduleStore, Store

_TICK = timedelta(milliseconds=1)
"""The resolution of the store's times."""


def begin_run(store: Store, supplies: Supplies | LocalSupplies, name: str, time: str) -> ScheduledRun:
    """Raises a Refusal if the schedule does not exist, or its spec now has faults."""
    run_id = f"once-{content_hash(['schedule', name, time], length=20)}"
    with one_at_a_time:
        if store.run(run_id):
            return ScheduledRun(run_id=run_id, begun=True)
        schedule = newest_schedule(store, name)
        if schedule is None or schedule.removed:
            raise unknown_schedule(name)
        if open_run_id := _open_run(store, name):
            return ScheduledRun(run_id=open_run_id, begun=False)
        plan = planned(supplies, schedule.spec_text, f"schedule {name}")
        queue_run(store, run_id, Trigger.SCHEDULE, schedule.spec_text, plan, f"schedule {name}, {time}")
    return ScheduledRun(run_id=run_id, begun=True)


def newest_schedule(store: ScheduleStore, name: str) -> Schedule | None:
    return next((schedule for schedule in store.schedules() if schedule.name == name), None)


def changed_after(newest: Schedule | None) -> datetime:
    """Now, or just after the newest change if the clock was set back."""
    now = datetime.now(UTC)
    return max(now, newest.changed_at + _TICK) if newest else now


def _open_run(store: RunStore, name: str) -> str | None:
    for run_id in store.open_runs():
        run = store.run(run_id)
        if run and run.trigger is Trigger.SCHEDULE and run.plan.spec_name == name:
            return run_id
    return None


def unknown_schedule(name: str) -> Refusal:
    return Refusal(RefusalReason.MISSING, f"there is no schedule {name}", "kexbench schedules list lists them")
