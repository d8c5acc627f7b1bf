"""A plan: a spec expanded into cases x subjects x pools and packed into jobs."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import FIRST_FIELDS, Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.numbers import Count, Finite, Large

HARNESS_VERSION = 3
"""Raised when the way of measuring changes, so that old and new numbers are not compared silently."""
BATCHES = 40
"""Of a subject in an invocation, where a spec says nothing of it."""
BATCH_NS = 2_000_000
"""What a batch takes at least. Longer ones meet more of the machine's changes of speed, shorter ones spend more on the
handshake that refills the caches."""

SENTINEL = "sentinel"
"""The reference of the frozen subject that is measured along in every block."""


class Isolation(StrEnum):
    """Whether a job wants CPUs for itself."""

    EXCLUSIVE = "exclusive"
    BEST_EFFORT = "best-effort"


class PlannedSubject(Frozen):
    """A library from a source; its exact version is known once its kit is on the shelf."""

    library: str
    source: str
    declared_version: str | None = Field(None, description="the version the catalogue promises, as a prefix")

    @property
    def reference(self) -> str:
        return f"{self.library}@{self.source}"


class Skipped(Frozen):
    """A combination of the matrix that no library can perform."""

    combination: str
    reason: str


class Measure(Frozen):
    """How much is measured of each case."""

    invocations: Count
    batches: Count
    batch_ns: Large
    max_duration_s: Count
    resolve: Finite | None = Field(None, description="the change that shall be told, as a share, or null")
    sentinel: bool = Field(True, description="whether a workload that never changes is measured along")
    isolation: Isolation = Field(
        Isolation.EXCLUSIVE, description="what CPUs a job wants; enforced on a cluster, not on a machine by itself"
    )


class Job(Frozen):
    """What one node runs in one go: a range of invocations of some cases, each case's subjects in blocks."""

    job_id: str
    pool: str
    case_ids: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...] = Field(description="references of the subjects that interleave")
    first_invocation: Count
    invocations: Count

    @property
    def count(self) -> int:
        """How many invocations the job makes in all: of every case, with every block."""
        return self.invocations * len(self.blocks) * len(self.case_ids)

    @property
    def numbers(self) -> range:
        """The numbers of each case's invocations: the blocks of one pass are numbered one after the other."""
        first, blocks = self.first_invocation, len(self.blocks)
        return range(first * blocks, (first + self.invocations) * blocks)


class ReferenceRow(Frozen):
    """A published figure beside which a case is set."""

    case_id: str
    rate: Finite = Field(gt=0, description="published handshakes per second")


class ReferenceTable(Frozen):
    title: str
    baseline: str = Field(description="the case id that the others are divided by")
    rows: tuple[ReferenceRow, ...]


class Reference(Frozen):
    """Published tables that a spec repeats, so that a report can set both side by side."""

    title: str
    notes: str = Field("", description="what is known of why figures differ")
    tables: tuple[ReferenceTable, ...]


class Plan(Frozen):
    """Deterministic: the same spec and catalogue give the same plan and the same id."""

    format_version: Count = 1
    plan_id: str
    harness_version: Count = HARNESS_VERSION
    spec_name: str
    description: str
    pools: tuple[str, ...]
    subjects: tuple[PlannedSubject, ...]
    cases: tuple[Case, ...]
    skipped: tuple[Skipped, ...]
    measure: Measure
    jobs: tuple[Job, ...]
    estimated_s: Finite
    reference: Reference | None = None
    sentinel: str | None = Field(None, description="the subject that the frozen kit was made from, or null for none")
    peers: tuple[PlannedSubject, ...] = Field((), description="what plays the other side in cases with a peer")

    @property
    def invocations(self) -> int:
        """How many invocations the plan makes in all."""
        return sum(job.count for job in self.jobs)

    def case(self, case_id: str) -> Case:
        return next(case for case in self.cases if case.case_id == case_id)


def plan_id_of(plan: Plan) -> str:
    """The identity of a plan: a hash of everything else in it. Fields that came after the first release count only
    where they say something, so that a plan without them keeps its id."""
    content: dict[str, Any] = plan.model_dump(mode="json", exclude={"plan_id"})
    content["cases"] = [
        {**case.model_dump(mode="json", include=set(FIRST_FIELDS)), **case.variation} for case in plan.cases
    ]
    for later, neutral in (("resolve", None), ("sentinel", True), ("isolation", Isolation.EXCLUSIVE)):
        if content["measure"][later] == neutral:
            del content["measure"][later]
    for later in ("peers", "sentinel"):
        if not content[later]:
            del content[later]
    return content_hash(content)
