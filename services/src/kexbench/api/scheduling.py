"""Schedules: added, listed, removed, and their runs. On a cluster a pod requests each run when it is due, on a single
machine the executor does."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Header, Path, Response

from kexbench.api.access import TheCaller, check_bounds
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheQueueing, TheScheduleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.problems import ProblemError
from kexbench.api.run_models import ScheduleView, Submission
from kexbench.api.uploading import router as uploads
from kexbench.domain.schedules import Schedule, ScheduledRun
from kexbench.planning.documents import DocumentError
from kexbench.planning.schedule import read_schedule
from kexbench.queue.runs import one_at_a_time, planned
from kexbench.queue.schedules import begin_run, changed_after, newest_schedule, unknown_schedule

router = api_router(route_class=KeptRoute, tags=["schedules"], responses=uploads.responses)
Name = Annotated[str, Path(max_length=63)]
ScheduledTime = Annotated[
    str, Header(alias="Idempotency-Key", min_length=1, max_length=200, description="the scheduled time")
]


@router.get("/schedules", operation_id="schedules")
def schedules(store: TheScheduleStore) -> list[ScheduleView]:
    """All schedules, by name."""
    return [ScheduleView.of(schedule) for schedule in store.schedules() if not schedule.removed]


@router.post("/schedules", operation_id="add_schedule", status_code=201)
def add_schedule(
    store: TheScheduleStore, supplies: TheQueueing, caller: TheCaller, submission: Submission, response: Response
) -> ScheduleView:
    """Measure a spec at the times of its `schedule:`. The schedule has the spec's name and replaces an earlier one.
    Repeating it changes nothing. A spec with faults is a 422 problem that lists them all."""
    plan, cron = planned(supplies, submission.spec_text, submission.spec_file), _cron(submission)
    with one_at_a_time:
        schedule = newest_schedule(store, plan.spec_name)
        if schedule is None or schedule.removed or schedule.spec_text != submission.spec_text:
            schedule = Schedule(
                name=plan.spec_name,
                cron=cron,
                spec_text=submission.spec_text,
                changed_at=changed_after(schedule),
                changed_by=caller.name,
            )
            store.add_schedule(schedule)
    response.headers["Location"] = f"/api/v1/schedules/{schedule.name}"
    return ScheduleView.of(schedule)


@router.delete("/schedules/{name}", operation_id="remove_schedule", status_code=204)
def remove_schedule(store: TheScheduleStore, caller: TheCaller, name: Name) -> None:
    """Remove a schedule. Its current runs continue. Repeating it changes nothing."""
    with one_at_a_time:
        schedule = newest_schedule(store, name)
        if schedule is None:
            raise unknown_schedule(name)
        if not schedule.removed:
            change = {"removed": True, "changed_at": changed_after(schedule), "changed_by": caller.name}
            store.add_schedule(schedule.model_copy(update=change))


@router.post(
    "/schedules/{name}/runs",
    operation_id="run_schedule",
    status_code=201,
    responses={200: {"model": ScheduledRun, "description": "Nothing is queued: another run of the schedule is open"}},
)
def run_schedule(
    store: TheStore, supplies: TheQueueing, caller: TheCaller, name: Name, time: ScheduledTime, response: Response
) -> ScheduledRun:
    """Queue the run of a scheduled time. The same time returns the same run. If another run of the schedule is open,
    nothing is queued, and the status is 200."""
    check_bounds(caller, schedule=name)
    scheduled = begin_run(store, supplies, name, time)
    if not scheduled.begun:
        response.status_code = HTTPStatus.OK
    return scheduled


def _cron(submission: Submission) -> str:
    try:
        return read_schedule(submission.spec_text, submission.spec_file)
    except DocumentError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "correct the spec") from None
