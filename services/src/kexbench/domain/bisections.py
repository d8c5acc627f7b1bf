"""A bisection: the search for the commit of a library that changed a cost. What was asked never changes; what somebody
wants of it is a sequence of events. How far it is, its runs say."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library, SubjectRef
from kexbench.domain.moments import Moment

Outcome = Literal["found", "cannot say", "not measured"]
"""How a search ends: with a commit, or several of which all but the last cannot be measured; with none that can be
named; or because the ends gave no number."""


class LineCommit(Frozen):
    """What git tells of a commit of a line. `date` is when it was written, as in ISO 8601."""

    hash: str = Field(pattern=r"^[0-9a-f]{40}$")
    author: str
    date: str
    subject: str


class Line(Frozen):
    """The commits from the good end to the bad one, both included, each the first parent of the next."""

    bisection_id: str
    commits: Annotated[tuple[LineCommit, ...], Field(min_length=1)]


class Bisection(Frozen):
    """The facts: what was asked, and by whom."""

    bisection_id: str
    asked_at: Moment
    asked_by: str
    library: Library
    address: str = Field(description="of the git repository: an http(s) address, or a path on this machine")
    good: str = Field(description="a branch, tag or hash, as somebody wrote it")
    bad: str
    cases: tuple[Case, ...]
    pool: str
    invocations: int = Field(description="of one measurement; the ends alone have twice as many")

    def ref(self, name: str) -> SubjectRef:
        """The subject that a name of a commit means. Raises ValueError."""
        return SubjectRef.parse(f"{self.library}@git:{self.address}#{name}")

    def run_id(self, number: int) -> str:
        """Of one of its runs, in their order from 0, which measures the ends alone. Whoever asks for a run that there
        is gets that one."""
        return f"once-{content_hash(['bisection', self.bisection_id, number], length=20)}"


class BisectionEventKind(StrEnum):
    ASKED = "asked"
    """For the first time, or for more builds than before."""
    WAITS = "waits"
    """It cannot go on until somebody resumes it."""
    RESUMED = "resumed"
    CANCELLED = "cancelled"
    ENDED = "ended"


class BisectionEvent(Frozen):
    """One thing that somebody wanted of a bisection, or that it came to."""

    bisection_id: str
    at: Moment
    kind: BisectionEventKind
    detail: str = ""
    builds: int | None = Field(None, description="of `asked`: at most; null for as many as its commits take")
    outcome: Outcome | None = Field(None, description="of `ended`")


class CaseStep(Frozen):
    """The cost of the bad end relative to the good one in one case, over all measurements."""

    case_id: str
    title: str
    changed: bool = Field(description="whether the search follows it")
    ratio: float
    low: float
    high: float
    added: float | None = Field(
        None, description="what the commit that was found adds to the good end's cost: 0.02 is 2%"
    )


class ToldCommit(LineCommit):
    """A commit that may be the first bad one, or that cannot be measured."""

    number: int = Field(description="in the line, from 0")
    probability: float = Field(description="that it is the first bad one")
    fails: str | None = Field(description="why it cannot be measured")


class End(Frozen):
    name: str = Field(description="as somebody wrote it")
    hash: str


class BisectionAnswer(Frozen):
    """What a bisection came to."""

    verdict: Literal["found", "cannot say"]
    says: str = Field(description="a sentence or two, with the remedy where there is no answer")
    probability: float | None
    commits: tuple[ToldCommit, ...] = Field(description="those that it may be")
    steps: tuple[CaseStep, ...]
    repository: str
    good: End
    bad: End
    searched: int = Field(description="commits")
    builds: int
    failed: tuple[ToldCommit, ...] = Field(description="those that cannot be measured")
    measurements: int
    invocations: int
    run_ids: tuple[str, ...]


BisectionState = Literal["asked", "searching", "waiting", "cancelled", Outcome]
"""`asked`: its commits are looked for; `waiting`: for somebody to resume it."""


class WantedLine(Frozen):
    """The commits of a bisection are to be found, by who has git."""

    bisection_id: str
    series: int = Field(description="counts how often it was asked for or resumed")
    good: str = Field(description="a reference, such as openssl@git:https://…#openssl-3.5.0")
    bad: str
    pool: str
