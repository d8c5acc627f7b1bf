"""A bisection: the search for the commit of a library that changed a cost. The request never changes. Later wishes
and the result are a sequence of events, and the progress follows from the runs."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.instruments import Instrument
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import Library, SubjectRef
from kexbench.domain.moments import Moment

Outcome = Literal["found", "cannot say", "not measured"]
"""The end of a search. `found`: a commit, or several of which only the last can be measured; `cannot say`: no commit
can be named; `not measured`: the ends have no numbers."""


class LineCommit(Frozen):
    """A commit of a commit range, as git has it. `date` is the author date in ISO 8601."""

    hash: str = Field(pattern=r"^[0-9a-f]{40}$")
    author: str
    date: str
    subject: str


class Line(Frozen):
    """The commit range from the good end to the bad one, both included, each the first parent of the next."""

    bisection_id: str
    commits: Annotated[tuple[LineCommit, ...], Field(min_length=1)]


class Bisection(Frozen):
    """The request, and who made it."""

    bisection_id: str
    asked_at: Moment
    asked_by: str
    library: Library
    address: str = Field(description="of the git repository: an http(s) address, or a path on this machine")
    good: str = Field(description="a branch, tag or hash, as somebody wrote it")
    bad: str
    cases: tuple[Case, ...]
    pool: str
    invocations: int = Field(description="of one measurement; the run of the ends has twice as many")
    instrument: Instrument = Instrument.TIME

    def ref(self, name: str) -> SubjectRef:
        """The subject of a commit's name. Raises ValueError."""
        return SubjectRef.parse(f"{self.library}@git:{self.address}#{name}")

    def run_id(self, number: int) -> str:
        """The id of a run, by its number from 0, which measures the ends alone. The same request gives the same run."""
        return f"once-{content_hash(['bisection', self.bisection_id, number], length=20)}"


class BisectionEventKind(StrEnum):
    ASKED = "asked"
    """Requested, for the first time or with more builds than before."""
    WAITS = "waits"
    """The bisection cannot continue until somebody resumes it."""
    RESUMED = "resumed"
    CANCELLED = "cancelled"
    ENDED = "ended"


class BisectionEvent(Frozen):
    """A request to a bisection, or its result."""

    bisection_id: str
    at: Moment
    kind: BisectionEventKind
    detail: str = ""
    builds: int | None = Field(None, description="of `asked`: at most; null for as many as needed")
    outcome: Outcome | None = Field(None, description="of `ended`")


class CaseStep(Ratio):
    """The cost of the bad end relative to the good one in one case, over all measurements."""

    case_id: str
    title: str
    changed: bool = Field(description="whether the search follows it")
    added: float | None = Field(None, description="what the found commit adds to the good end's cost: 0.02 is 2%")


class BisectionCommit(LineCommit):
    """A commit with a result or a probability."""

    number: int = Field(description="in the commit range, from 0, the good end")
    probability: float | None = Field(description="that it is the first bad one; null before any measurement")
    reached: float | None = Field(None, description="the probability that it contains the change")
    measurements: int = Field(0, description="number of measurements, for a commit between the ends")
    fails: str | None = Field(description="why it cannot be measured")


class End(Frozen):
    name: str = Field(description="as somebody wrote it")
    hash: str


class BisectionAnswer(Frozen):
    """The result of a bisection."""

    verdict: Literal["found", "cannot say"]
    says: str = Field(description="the result in a sentence or two, with the remedy where there is no answer")
    probability: float | None
    commits: tuple[BisectionCommit, ...] = Field(description="commits that may be the first bad one")
    steps: tuple[CaseStep, ...]
    repository: str
    good: End
    bad: End
    searched: int = Field(description="commits")
    builds: int
    failed: tuple[BisectionCommit, ...] = Field(description="commits that cannot be measured")
    measurements: int
    invocations: int
    instrument: Instrument = Instrument.TIME
    run_ids: tuple[str, ...]


BisectionState = Literal["asked", "searching", "waiting", "cancelled", Outcome]
"""`asked`: its commits are being listed; `waiting`: somebody has to resume it."""


class WantedLine(Frozen):
    """A request to list the commits of a bisection, for a process that has git."""

    bisection_id: str
    series: int = Field(description="counts requests and resumptions of the bisection")
    good: str = Field(description="a reference, such as openssl@git:https://…#openssl-3.5.0")
    bad: str
    pool: str
