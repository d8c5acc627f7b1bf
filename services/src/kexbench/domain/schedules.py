"""A schedule: a spec that a cluster measures at set times."""

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment


class Schedule(Frozen):
    """A change of a schedule; the newest change of a name is the current schedule."""

    name: str = Field(description="the spec's name")
    cron: str = Field(description="five fields, in UTC")
    spec_text: str = Field(description="planned for each run, with the catalogue and pools of that time")
    changed_at: Moment
    changed_by: str
    removed: bool = False


class ScheduledRun(Frozen):
    """The result of a schedule's time."""

    run_id: str
    begun: bool = Field(description="false: this run of the schedule is still open, so no other was queued")
