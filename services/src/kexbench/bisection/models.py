"""What is asked of bisections, and what is told of them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from kexbench.comparison.models import CaseView
from kexbench.domain.bisections import BisectionAnswer, BisectionEvent, BisectionState, CaseStep, LineCommit
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.numbers import Count
from kexbench.domain.runs import RunState
from kexbench.planning.documents import SPEC_MAX_CHARACTERS

BisectionControl = Literal["cancel", "resume"]
CommitName = Annotated[str, Field(min_length=1, max_length=200)]


class BisectionWanted(Frozen):
    """Which commit of a library changed what handshakes cost?"""

    library: Library
    repository: str = Field(max_length=280, description="an http(s) address; on one machine also a path on it")
    good: CommitName = Field(description="a branch, tag or hash, before the change")
    bad: CommitName = Field(description="a later one, behind it")
    cases: Annotated[list[str], Field(max_length=1000)] = Field(
        [], description="patterns that ids of cases must fit, such as *rsa-2048*; all where empty"
    )
    spec_text: str | None = Field(
        None, max_length=SPEC_MAX_CHARACTERS, description="whose cases they are; null: those that servers use most"
    )
    pool: str | None = Field(None, max_length=63, description="null: the only one")
    invocations: int | None = Field(None, ge=6, le=500, description="of one measurement; null: what fits a minute")
    builds: int | None = Field(
        None, ge=3, le=200, description="at most; null: 10 for 64 commits, one more to double them"
    )
    anew: bool = Field(False, description="forget what an earlier one of the same question found, once that has ended")


class BisectionSummary(Frozen):
    bisection_id: str
    asked_at: datetime
    asked_by: str
    library: Library
    repository: str
    good: str
    bad: str
    pool: str
    cases: list[CaseView]
    state: BisectionState
    detail: str = Field(description="what is said of the state; of one that has ended, the answer")
    runs: int = Field(description="that were asked for so far")


class BisectionPage(Frozen):
    bisections: list[BisectionSummary]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class BisectionRunView(Frozen):
    """One of its runs."""

    number: int
    run_id: str
    commit: int | None = Field(description="that was measured beside both ends; null of the ends alone")
    state: RunState
    detail: str
    invocations_planned: int
    invocations_stored: int


class BisectionCommit(LineCommit):
    """A commit that something is known of."""

    number: int = Field(description="in the line; 0 is the good end")
    probability: float | None = Field(description="that it is the first bad one; null before anything is measured")
    reached: float | None = Field(description="that it has the step")
    measurements: int = Field(description="of a commit between the ends")
    fails: str | None = Field(description="why it cannot be measured")


class BisectionDetail(Frozen):
    """All that is known of one."""

    summary: BisectionSummary
    events: list[BisectionEvent]
    controls: list[BisectionControl] = Field(description="what may be asked of it here and now")
    invocations: int = Field(description="of one measurement")
    most_builds: int | None = Field(description="null until its commits are known")
    searched: int = Field(description="commits, both ends included; 0 until they are known")
    commits: list[BisectionCommit] = Field(
        description="in their order: the ends, those that were built or do not build, and those that are likely"
    )
    runs: list[BisectionRunView]
    steps: list[CaseStep]
    answer: BisectionAnswer | None = Field(description="null before the end")


class LineTrouble(Frozen):
    """Why there is no line."""

    series: Count
    reason: str = Field(min_length=1, max_length=4000)
