"""The shape of the queue."""

from datetime import datetime

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.runs import RunState, Trigger


class QueueEntry(Frozen):
    """A run that was begun or waits."""

    run_id: str
    spec_name: str
    trigger: Trigger
    priority: int = Field(description="by the trigger; 1 comes first")
    state: RunState
    detail: str
    queued_at: datetime = Field(description="of one that a command measures itself: when it began")
    spec_begun_at: datetime | None = Field(
        description="when a run of the spec began last; of several specs of one priority the one longest ago is next"
    )
    pools: list[str]
    invocations_planned: int
    invocations_stored: int
    left_s: float = Field(description="estimated time of measuring what is left of it")
    wait_s: float | None = Field(
        description="estimated time of all that is before it; null once it is begun, and on a cluster, where runs may "
        "be measured side by side"
    )
    superseded_by: str | None = Field(description="the newer run of its line that it will be cancelled for")


class QueueView(Frozen):
    runs: list[QueueEntry] = Field(description="those that were begun first, then in the order they will begin")
