"""What is asked of a service that has a cluster, and what its dispatcher is told."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.commits import Commit, DryRun, SpecFault, SpecPath
from kexbench.domain.frozen import Frozen
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunEvent
from kexbench.domain.schedules import Schedule

SPEC_MAX_CHARACTERS = 1 << 20


class Submission(Frozen):
    """A spec that shall be measured."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS)
    spec_file: str = Field("spec.yaml", max_length=400, description="as faults name it")


class RunWanted(Submission):
    """A spec that shall be measured now."""

    purpose: Literal["history", "qualification"] = Field(
        "history", description="qualification: an A/A run, whose numbers are no part of any overview"
    )


class DryRunRequest(Frozen):
    """A spec that shall be planned and not measured."""

    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    spec_file: SpecPath = Field("spec.yaml", description="as faults name it; its path where it is of a commit")
    catalogue_text: str | None = Field(None, max_length=SPEC_MAX_CHARACTERS, description="null is this service's own")
    subjects: Annotated[list[str], Field(max_length=10_000)] = Field([], description="references; all where empty")
    commit: Commit | None = Field(None, description="that it is of: what is measured of it already is told")
    with_plan: bool = Field(False, description="whether the whole plan is told, which may be large")


class DryRunView(Frozen):
    """A dry run, or the run that there is, or faults."""

    dry_run: DryRun | None = None
    plan: Plan | None = Field(None, description="of the dry run, where it was asked for")
    run_id: str | None = Field(None, description="the run that there is of this spec of this commit")
    faults: list[SpecFault] = Field([], description="why there is neither")


class OpenRun(Frozen):
    """A run that something is still to happen to, without its plan, which may be large."""

    run_id: str
    is_started: bool
    events: list[RunEvent] = Field(description="in their order; each that is `queued` begins another series")


class KnownKits(Frozen):
    """Which kits a run has and which are to be built, on its pools' architecture."""

    architecture: str
    kits: dict[str, str | None] = Field(description="kit id by reference; null is missing")


class ScheduleView(Frozen):
    """A spec that a cluster measures again and again."""

    name: str = Field(description="the spec's own", examples=["nightly"])
    cron: str = Field(description="minute, hour, day of the month, month, day of the week; UTC", examples=["0 3 * * *"])
    spec_text: str = Field(description="planned anew each time")
    changed_at: datetime
    changed_by: str

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleView":
        return cls(**schedule.model_dump(exclude={"removed"}))
