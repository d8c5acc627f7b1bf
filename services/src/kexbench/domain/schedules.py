"""A schedule: a spec that a cluster measures again and again."""

from pydantic import BaseModel, ConfigDict, Field

from kexbench.domain.moments import Moment


class Schedule(BaseModel):
    """One change of a schedule; the newest one of its name is what it is now."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="the spec's own")
    cron: str = Field(description="five fields, in UTC")
    spec_text: str = Field(description="planned anew each time, by the catalogue and the pools of that time")
    changed_at: Moment
    changed_by: str
    removed: bool = False


class ScheduledRun(BaseModel):
    """What became of a schedule's time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    begun: bool = Field(description="false: this run of the schedule is still open, so no other was begun")
