"""A plan: a spec expanded into cases x subjects x pools and packed into jobs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import product
from typing import Any

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import FIRST_FIELDS, Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.instruments import Instrument
from kexbench.domain.metrics import Side
from kexbench.domain.numbers import Count, Finite, Large, counted

HARNESS_VERSION = 4
"""Incremented when the measurement method changes, so that old and new numbers are not compared silently."""
BATCHES = 40
"""Default batches of a subject in an invocation."""
BATCH_NS = 2_000_000
"""Minimum length of a batch. Longer ones see more changes of the machine's speed. Shorter ones spend a larger share on
the handshake that refills the caches."""

JOBS_PER_CELL = 2
"""The fewest jobs of a cell, unless the spec says otherwise, so that the job can be a random effect."""
WARM_UP_BATCHES = 2
MIN_HANDSHAKES = 3
ENOUGH_NS = 50_000_000
"""A batch of this length needs no further handshakes: refilling the caches is a small share of any of them."""
EXAMINED_HANDSHAKES, LEAST_EXAMINED = 10, 2
"""Handshakes of the untimed pass, and those that slow ones have at least."""
EXAMINED_NS = 2 * ENOUGH_NS
THREADS_BATCH_NS = 20_000_000
"""Minimum length of a batch of several threads. Waking them costs each some hundred microseconds of lost speed."""
SERVED_BATCH_NS = 100_000_000
"""Minimum length of a batch with a web server. It must be long compared with its ends, at which fewer connections are
under way than in between, and have enough connections for percentiles."""

PATH_CONNECTIONS = 500
"""Default connections over a path in an invocation."""
HEAP_STARTS = 3
"""Processes of each subject whose heap is counted, in an invocation that starts any: it hardly varies."""
LEAST_AGED, MOST_AGED = 100, 10_000_000
"""Connections on one context, in an invocation that ages it."""
HEAP_AGED = 20_000
"""The most of them with the counter of allocations. Growth shows in fewer than a slope of CPU time does."""
BLOCK_SUBJECTS, MOST_BLOCK_SUBJECTS = 6, 12
"""With more live processes each finds less of its code and data in a core's caches when its turn comes."""
SENTINEL = "sentinel"
"""The reference of the frozen subject in every block."""


class Isolation(StrEnum):
    """Whether a job needs CPUs of its own."""

    EXCLUSIVE = "exclusive"
    BEST_EFFORT = "best-effort"


def least_handshakes(handshake_ns: float) -> int:
    """The fewest handshakes of a batch, if one takes so long."""
    return min(math.ceil(ENOUGH_NS / max(1, handshake_ns)), MIN_HANDSHAKES)


def examined_handshakes(handshake_ns: float) -> int:
    """The handshakes of the untimed pass, if one takes so long."""
    return min(max(LEAST_EXAMINED, math.ceil(EXAMINED_NS / max(1, handshake_ns))), EXAMINED_HANDSHAKES)


class PlannedSubject(Frozen):
    """A library from a source. Its exact version is known once its kit is in the kit store."""

    library: str
    source: str
    declared_version: str | None = Field(None, description="the catalogue's version, as a prefix")

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
    resolve: Finite | None = Field(None, description="the smallest change to detect, as a share, or null")
    sentinel: bool = Field(True, description="whether the sentinel, which never changes, is measured too")
    isolation: Isolation = Field(
        Isolation.EXCLUSIVE, description="whether a job needs CPUs of its own; enforced only on a cluster"
    )
    instrument: Instrument = Field(Instrument.TIME, description="CPU time, or what is counted")
    jobs: Count = Field(
        JOBS_PER_CELL, description="the fewest jobs that share the invocations of a cell, if there are as many"
    )
    block_subjects: Count = Field(BLOCK_SUBJECTS, description="the most subjects that interleave")
    connections: Count = Field(PATH_CONNECTIONS, description="of each invocation of a case with a path")
    starts: Count = Field(0, description="fresh processes of each subject in each invocation, timed step by step")

    age: int = Field(
        0, ge=0, le=MOST_AGED, description="connections that age a context in each invocation, or 0 for none"
    )

    def starts_processes(self, case: Case) -> bool:
        """Whether fresh processes are started with a case."""
        return self.starts > 0 and case.has_start

    def ages_context(self, case: Case) -> bool:
        """Whether a context ages with a case. What is counted does not age."""
        return self.age > 0 and case.ages and not self.instrument.counts

    def batch_ns_of(self, case: Case) -> int:
        """The minimum length of a batch of a case."""
        if case.has_server:
            return max(self.batch_ns, SERVED_BATCH_NS)
        return max(self.batch_ns, THREADS_BATCH_NS) if case.threads > 1 else self.batch_ns


def left_out(measure: Measure, cases: Sequence[Case]) -> Iterator[str]:
    """`2 of 4 cases cannot age: …`, for what the spec asks of all cases and some cannot have."""
    startless = sum(not measure.starts_processes(case) for case in cases) if measure.starts else 0
    ageless = (
        sum(not measure.ages_context(case) for case in cases) if measure.age and not measure.instrument.counts else 0
    )
    if startless:
        yield (
            f"{startless} of {counted(len(cases), 'case')} cannot be started: that takes one thread, one context for "
            "all connections, no peer, no web server and no path"
        )
    if ageless:
        yield (
            f"{ageless} of {counted(len(cases), 'case')} cannot age: that takes one thread, a context that is kept, "
            "no peer, no web server and no key that is used up"
        )


class Job(Frozen):
    """What one node measures in one go: a range of invocations of some cases, each with its subjects in blocks."""

    job_id: str
    pool: str
    case_ids: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...] = Field(description="references of the subjects that interleave")
    first_invocation: Count
    invocations: Count

    @property
    def count(self) -> int:
        """The total invocations of the job: of every case, with every block."""
        return self.invocations * len(self.blocks) * len(self.case_ids)

    @property
    def numbers(self) -> range:
        """The numbers of each case's invocations. The blocks of a pass have consecutive numbers."""
        first, blocks = self.first_invocation, len(self.blocks)
        return range(first * blocks, (first + self.invocations) * blocks)


def left_out_by_job(
    jobs: Iterable[Job], stored: Iterable[tuple[str, str, int]], hopeless: Iterable[tuple[str, str, str]]
) -> dict[str, int]:
    """How many invocations of each job the runner leaves out, since every subject of their block is hopeless on their
    case. `stored` are invocations by job, case and number, `hopeless` are subjects by job and case."""
    done, given_up = set(stored), set(hopeless)

    def is_left_out(job: Job, case_id: str, number: int) -> bool:
        block = job.blocks[number % len(job.blocks)]
        is_hopeless = all((job.job_id, case_id, subject) in given_up for subject in block)
        return is_hopeless and (job.job_id, case_id, number) not in done

    return {job.job_id: sum(is_left_out(job, *each) for each in product(job.case_ids, job.numbers)) for job in jobs}


class ReferenceRow(Frozen):
    """A published figure to compare a case with."""

    case_id: str
    rate: Finite = Field(gt=0, description="published handshakes per second")


class ReferenceTable(Frozen):
    title: str
    baseline: str = Field(description="the case id that the others are divided by")
    rows: tuple[ReferenceRow, ...]


class ReferenceRatio(Frozen):
    """A published ratio of two cases' rates."""

    case_id: str
    relative_to: str = Field(description="the case id that it is divided by")
    ratio: Finite = Field(gt=0, description="of the rates; above 1 is faster")


class ReferenceRatios(Frozen):
    title: str
    side: Side = Field("both", description="whose CPU time is compared")
    rows: tuple[ReferenceRatio, ...]


class Reference(Frozen):
    """Published figures that a spec repeats, so that a report can show both side by side."""

    title: str
    notes: str = Field("", description="known reasons why figures differ")
    tables: tuple[ReferenceTable, ...] = ()
    ratios: tuple[ReferenceRatios, ...] = ()


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
    sentinel: str | None = Field(None, description="the subject of the frozen kit, or null for none")
    peers: tuple[PlannedSubject, ...] = Field((), description="the other sides in cases with a peer")

    @property
    def invocations(self) -> int:
        """The total invocations of the plan."""
        return sum(job.count for job in self.jobs)

    def case(self, case_id: str) -> Case:
        return next(case for case in self.cases if case.case_id == case_id)


def plan_id_of(plan: Plan) -> str:
    """The id of a plan: a hash of all its other fields. Fields that were added after the first release count only where
    they are not neutral, so that older plans keep their ids."""
    content: dict[str, Any] = plan.model_dump(mode="json", exclude={"plan_id"})
    content["cases"] = [
        {**case.model_dump(mode="json", include=set(FIRST_FIELDS)), **case.variation} for case in plan.cases
    ]
    for later, neutral in (
        *(("resolve", None), ("sentinel", True)),
        *(("isolation", Isolation.EXCLUSIVE), ("instrument", Instrument.TIME)),
        *(("jobs", JOBS_PER_CELL), ("block_subjects", BLOCK_SUBJECTS)),
        *(("connections", PATH_CONNECTIONS), ("starts", 0), ("age", 0)),
    ):
        if content["measure"][later] == neutral:
            del content["measure"][later]
    for later in ("peers", "sentinel"):
        if not content[later]:
            del content[later]
    if plan.reference and not plan.reference.ratios:
        del content["reference"]["ratios"]
    return content_hash(content)
