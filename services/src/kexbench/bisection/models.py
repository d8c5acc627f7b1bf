"""Requests and responses of bisections."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from kexbench.answers.shapes import CaseView
from kexbench.domain.bisections import (
    BisectionAnswer,
    BisectionCommit,
    BisectionEvent,
    BisectionState,
    CaseStep,
)
from kexbench.domain.frozen import Frozen
from kexbench.domain.instruments import Instrument
from kexbench.domain.kits import Library
from kexbench.domain.numbers import Count
from kexbench.domain.runs import RunState
from kexbench.planning.documents import SPEC_MAX_CHARACTERS

BisectionControl = Literal["cancel", "resume"]
CommitName = Annotated[str, Field(min_length=1, max_length=200)]


class BisectionWanted(Frozen):
    """Which commit of a library changed the cost of handshakes?"""

    library: Library
    repository: str = Field(max_length=280, description="an http(s) address; on a single machine also a local path")
    good: CommitName = Field(description="a branch, tag or hash before the change")
    bad: CommitName = Field(description="a branch, tag or hash after the change")
    cases: Annotated[list[str], Field(max_length=1000)] = Field(
        [], description="patterns for ids of cases, such as *rsa-2048*; all cases if empty"
    )
    spec_text: str | None = Field(
        None, max_length=SPEC_MAX_CHARACTERS, description="a spec with the cases; null: the cases that servers use most"
    )
    pool: str | None = Field(None, max_length=63, description="null: the only pool")
    instrument: Instrument = Field(
        Instrument.TIME, description="instructions: one count of each commit decides, without repetition"
    )
    invocations: int | None = Field(None, ge=6, le=500, description="of one measurement; null: as many as fit a minute")
    builds: int | None = Field(
        None, ge=3, le=200, description="at most; null: 10 for 64 commits, and one more for each doubling"
    )
    anew: bool = Field(False, description="ignore the result of an earlier, ended search with the same request")


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
    detail: str = Field(description="an explanation of the state, or the answer if it has ended")
    runs: int = Field(description="number of runs requested so far")


class BisectionPage(Frozen):
    bisections: list[BisectionSummary]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class BisectionRunView(Frozen):
    """A run of a bisection."""

    number: int
    run_id: str
    commit: int | None = Field(description="the commit compared with both ends; null if only the ends are measured")
    state: RunState
    detail: str
    invocations_planned: int
    invocations_stored: int


class BisectionDetail(Frozen):
    """All about one bisection."""

    summary: BisectionSummary
    events: list[BisectionEvent]
    controls: list[BisectionControl] = Field(description="the controls that are possible now")
    invocations: int = Field(description="of one measurement")
    most_builds: int | None = Field(description="null until its commits are known")
    searched: int = Field(description="number of commits, both ends included; 0 until they are known")
    commits: list[BisectionCommit] = Field(
        description="in their order: the ends, those that were built or do not build, and likely ones"
    )
    runs: list[BisectionRunView]
    steps: list[CaseStep]
    answer: BisectionAnswer | None = Field(description="null before the end")


class LineTrouble(Frozen):
    """Why there is no commit range."""

    series: Count
    reason: str = Field(min_length=1, max_length=4000)
