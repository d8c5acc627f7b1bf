"""The shapes of requests for runs, and of what they answer."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, WithJsonSchema, model_validator

from kexbench.domain.commits import Commit, DryRun, SpecFault, SpecPath
from kexbench.domain.frozen import Frozen
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunEvent, RunState
from kexbench.domain.schedules import Schedule
from kexbench.planning.documents import SPEC_MAX_CHARACTERS


class Submission(Frozen):
    """A spec to measure."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS)
    spec_file: str = Field("spec.yaml", max_length=400, description="its name in faults")


class RunWanted(Submission):
    """A spec to measure now."""

    purpose: Literal["history", "qualification"] = Field(
        "history", description="qualification: an A/A run, whose numbers appear in no overview"
    )


class DryRunRequest(Frozen):
    """A spec to plan without measuring it."""

    spec_text: str = Field(max_length=SPEC_MAX_CHARACTERS)
    spec_file: SpecPath = Field("spec.yaml", description="its name in faults; its path if it is of a commit")
    catalogue_text: str | None = Field(None, max_length=SPEC_MAX_CHARACTERS, description="null: the service's own")
    subjects: Annotated[list[str], Field(max_length=10_000)] = Field([], description="references; empty: all")
    commit: Commit | None = Field(None, description="the commit of the spec: if that has a run, the run is returned")
    with_plan: bool = Field(False, description="whether to return the whole plan, which may be large")


class DryRunView(Frozen):
    """A dry run, an existing run, or faults."""

    dry_run: DryRun | None = None
    plan: Annotated[
        Plan | None,
        WithJsonSchema(
            {"type": ["object", "null"], "description": "the plan of the dry run, if requested; a format of its own"}
        ),
    ] = None
    run_id: str | None = Field(None, description="the existing run of this spec of this commit")
    faults: list[SpecFault] = Field([], description="why there is neither")


class CancelWanted(Frozen):
    """Which runs to cancel: those named, or all that have not begun."""

    run_ids: list[Annotated[str, Field(max_length=200)]] = Field([], max_length=10_000)
    queued: bool = Field(False, description="all that have not begun; on a cluster also those whose kits are built now")

    @model_validator(mode="after")
    def _names_runs(self) -> Self:
        if bool(self.run_ids) == self.queued:
            raise ValueError("give the ids of runs, or queued for all that have not begun")
        return self


CancelOutcome = Literal["accepted", "unchanged", "refused", "unknown"]


class RunCancellation(Frozen):
    run_id: str
    outcome: CancelOutcome = Field(
        description="`accepted`: this request cancels it. `unchanged`: it is being cancelled already, or has ended. "
        "`refused`: a command on its machine measures it. `unknown`: there is no such run."
    )
    state: RunState | None = Field(description="after this request; null for an unknown run")
    detail: str
    remedy: str | None


class RunsCancelled(Frozen):
    runs: list[RunCancellation] = Field(description="in the order of the request, each once")


class OpenRun(Frozen):
    """A run that has not ended, without its plan, which may be large."""

    run_id: str
    pools: list[str]
    invocations_planned: int
    events: list[RunEvent] = Field(description="in order; each `queued` event begins another submission")


class KnownKits(Frozen):
    """The kits that a run has and those to build, for the architecture of its pools."""

    architecture: str
    kits: dict[str, str | None] = Field(description="kit id by reference; null if missing")


class ScheduleView(Frozen):
    """A spec that is measured regularly."""

    name: str = Field(description="the name of the spec", examples=["nightly"])
    cron: str = Field(description="minute, hour, day of the month, month, day of the week; UTC", examples=["0 3 * * *"])
    spec_text: str = Field(description="planned anew each time")
    changed_at: datetime
    changed_by: str

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleView":
        return cls(**schedule.model_dump(exclude={"removed"}))
