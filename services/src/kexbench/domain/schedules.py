"""A schedule: a spec that a cluster measures again and again."""

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment


class Schedule(Frozen):
    """One change of a schedule; the newest one of its name is what it is now."""

    name: str = Field(description="the spec's own")
    cron: str = Field(description="five fields, in UTC")
    spec_text: str = Field(description="planned anew each time, by the catalogue and the pools of that time")
    changed_at: Moment
    changed_by: str
    removed: bool = False


class ScheduledRun(Frozen):
    """What became of a schedule's time."""

    run_id: str
    begun: bool = Field(description="false: this run of the schedule is still open, so no other was begun")
