"""The shapes of requests, and of answers that are not about results: those are in `answers`."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment
from kexbench.domain.refusals import Candidate


class Problem(Frozen):
    """RFC 9457 problem details, sent as application/problem+json with every error."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    remedy: str | None = None
    errors: list[dict[str, Any]] | None = None
    candidates: list[Candidate] | None = Field(None, description="the subjects that an ambiguous request may mean")

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Not Found",
                "status": 404,
                "detail": "there is no run 20260101-120000-1f3c",
                "remedy": "kexbench runs list lists the runs",
            }
        }
    )


class TroubleView(Frozen):
    """A part of the service that does not work."""

    part: str = Field(examples=["queue"])
    since: datetime
    reason: str


class Health(Frozen):
    status: Literal["ok", "impaired"] = Field(description="`impaired` if a background part does not work")
    version: str
    engine: str | None = Field(
        description="the store's engine and version when it was opened; null if it did not answer",
        examples=["chDB 26.9.1"],
    )
    troubles: list[TroubleView] = Field(description="the parts that do not work now")


class StoreTable(Frozen):
    table: str
    rows: int
    size_bytes: int = Field(description="on disk, compressed")


class PrunableView(Frozen):
    """Batch values that can be removed."""

    runs: int
    samples: int = Field(description="subjects and metrics in invocations")
    values: int
    size_bytes: int = Field(description="an estimate of what they take on disk")


class StoreView(Frozen):
    tables: list[StoreTable] = Field(description="the largest first")
    size_bytes: int = Field(description="of all tables")


class PruneWanted(Frozen):
    before: Moment = Field(description="remove the batch values of invocations before this time")


class PrunedView(Frozen):
    """What a step removed. Repeat the request until it is the last."""

    removed_values: int
    left_values: int
    left_partitions: int = Field(description="parts of the store with space to free")
    is_last: bool


class StoredInvocation(Frozen):
    job_id: str
    attempt: int
    case_id: str
    invocation: int
    hopeless: list[str] = Field([], description="subjects that need not be tried again on its case")
