"""Two subjects of a run, compared in one direction, and the report of a change to a library that is made of them."""

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field

from kexbench.domain.differences import Difference
from kexbench.domain.frozen import Frozen
from kexbench.domain.instruments import Instrument
from kexbench.domain.kits import SubjectRef
from kexbench.domain.upgrades import UpgradeCell
from kexbench.domain.verdicts import RunVerdict
from kexbench.domain.waits import NO_WAITS, Waits

REPORT_FILE, COMMENT_FILE, PAGE_FILE = "report.json", "comment.md", "summary.html"
"""In the folder of a report."""
Which = Literal["base", "change"]


class PairEnd(Frozen):
    reference: str = Field(examples=["openssl@git:/src/openssl#master"])
    version: str = Field(
        description="with the commit it was built from, or its package where both ends have the same version",
        examples=["3.6.0-dev 0123abc", "3.0.22, libssl3 3.0.22-1~deb12u2"],
    )
    build_profile_label: str = Field(examples=["git shared gcc 14.2.0 x86_64"])


class Pair(Frozen):
    """What a run says of two of its subjects, whichever is the newer version, by its own numbers and the metric of its
    instrument."""

    run_id: str
    instrument: Instrument
    relevant: float = Field(description="changes below this share do not count")
    before: PairEnd
    after: PairEnd
    components: tuple[Difference, ...] = Field(description="other than the library, in which the two differ")
    cells: tuple[UpgradeCell, ...] = Field(description="at least one of each case; without a move: no result")
    waits: Waits = Field(NO_WAITS, description="over emulated paths")
    verdict: RunVerdict


class Unbuilt(Frozen):
    """A build that could not be made."""

    which: Which
    reference: str
    reason: str
    remedy: str
    log: tuple[str, ...] = Field(description="the last lines of the attempt")


class ChangeReport(Frozen):
    """What `kexbench compare` found about a change, for a job of continuous integration."""

    format_version: Literal[1] = 1
    base: str = Field(description="reference of the first build")
    change: str = Field(description="reference of the second build")
    exit_status: int = Field(description="of the command")
    unbuilt: tuple[Unbuilt, ...] = ()
    pairs: tuple[Pair, ...] = Field((), description="one for each instrument")

    @property
    def library(self) -> str:
        return self.change.partition("@")[0]

    @classmethod
    def of(cls, ends: Sequence[SubjectRef], exit_status: int, **parts: Any) -> Self:
        base, change = map(str, ends)
        return cls(base=base, change=change, exit_status=exit_status, **parts)
