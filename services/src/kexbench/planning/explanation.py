"""Runs that explain an alert: they count the instructions of both versions in the cases that became slowest. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import Instrument, Isolation
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import Purpose
from kexbench.planning.compose import COUNTS, Wish
from kexbench.planning.confirmation import catalogue_of

CASES_MAX = 3
"""Cases of one alert that are counted: a shared cause shows in each."""


@dataclass(frozen=True)
class ExplainingRun:
    """`pool`: one that measured the change. The run needs no quiet node, since it counts."""

    name: str
    ends: tuple[SubjectRef, SubjectRef]
    cases: tuple[Case, ...]
    pool: str

    @property
    def wish(self) -> Wish:
        before, after = self.ends
        return counting_wish(
            self.name, self.ends, self.cases, f"Which functions make {after} slower than {before}?", self.pool
        )

    @property
    def catalogue_text(self) -> str:
        return catalogue_of(self.ends, self.cases)


def counting_wish(
    name: str,
    ends: tuple[SubjectRef, SubjectRef],
    cases: Sequence[Case],
    description: str,
    pool: str = LOCAL,
    starts: int = 0,
) -> Wish:
    """A spec that counts the instructions of two subjects; with `starts`, also of a process's start."""
    return Wish(
        name=name,
        description=description,
        subjects=ends,
        cases=tuple(cases),
        invocations=COUNTS,
        pools=(pool,),
        isolation=Isolation.BEST_EFFORT,
        purpose=Purpose.SEARCH,
        instrument=Instrument.INSTRUCTIONS,
        starts=starts,
    )


def explaining_run_id(alert_id: str, confirmation_run: str) -> str:
    """The same for every request to explain what a confirmation run found."""
    return f"once-{content_hash(['explanation', alert_id, confirmation_run], length=20)}"
