"""A run: one execution of a plan. Its facts never change; its state is a sequence of events."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from kexbench.domain.hosts import HostFacts
from kexbench.domain.kits import KitManifest
from kexbench.domain.material import MaterialFiles
from kexbench.domain.moments import Moment
from kexbench.domain.plans import Plan


class RunState(StrEnum):
    """In the order of a run's life. On a machine that measures by itself a run starts as `running`."""

    QUEUED = "queued"
    BUILDING = "building"
    RUNNING = "running"
    CANCELLING = "cancelling"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """Whether something is still to happen by itself."""
        return self not in (RunState.FINISHED, RunState.CANCELLED, RunState.FAILED)


class Trigger(StrEnum):
    COMMAND_LINE = "command-line"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Run(_Frozen):
    """The facts of a run, fixed when it starts."""

    format_version: int = 1
    run_id: str
    created_at: Moment
    trigger: Trigger
    spec_text: str
    plan: Plan
    kits: dict[str, KitManifest] = Field(description="by the subject's reference in the plan")
    host: HostFacts
    material: dict[str, MaterialFiles] = Field(description="content-addressed key material, by case id")


class RunEvent(_Frozen):
    """One change of a run's state; the newest event is the state."""

    run_id: str
    at: Moment
    state: RunState
    detail: str = ""
