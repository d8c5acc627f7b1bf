"""What is asked of a service that has a cluster, and what its dispatcher is told."""

from datetime import datetime

from pydantic import Field

from kexbench.api.answer import Answer
from kexbench.domain.runs import RunEvent
from kexbench.domain.schedules import Schedule

SPEC_MAX_CHARACTERS = 1 << 20


class Submission(Answer):
    """A spec that shall be measured."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS)
    spec_file: str = Field("spec.yaml", max_length=400, description="as faults name it")


class OpenRun(Answer):
    """A run that something is still to happen to, without its plan, which may be large."""

    run_id: str
    is_started: bool
    events: list[RunEvent] = Field(description="in their order; each that is `queued` begins another series")


class KnownKits(Answer):
    """Which kits a run has and which are to be built, on its pools' architecture."""

    architecture: str
    kits: dict[str, str | None] = Field(description="kit id by reference; null is missing")


class ScheduleView(Answer):
    """A spec that a cluster measures again and again."""

    name: str = Field(description="the spec's own", examples=["nightly"])
    cron: str = Field(description="minute, hour, day of the month, month, day of the week; UTC", examples=["0 3 * * *"])
    spec_text: str = Field(description="planned anew each time")
    changed_at: datetime
    changed_by: str

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleView":
        return cls(**schedule.model_dump(exclude={"removed"}))


class ScheduledRun(Answer):
    """What became of a schedule's time."""

    run_id: str
    begun: bool = Field(description="false: this run of the schedule is still open, so no other was begun")
