"""What the runs of a bisection measure: both ends, and a commit between them, in one block. Pure."""

from dataclasses import dataclass

import yaml

from kexbench.domain.cases import Case
from kexbench.domain.kits import SubjectRef
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import Purpose
from kexbench.planning.compose import Wish, affordable_invocations

ENDS = 2
"""How many times as many invocations the ends alone have: all that follows rests on their difference."""
SECONDS = 60
"""Of measuring one commit: less than building it takes."""
_SUBJECTS = 3


@dataclass(frozen=True)
class BisectionRun:
    """One of its runs: `between` is None where the ends are measured alone."""

    ends: tuple[SubjectRef, SubjectRef]
    between: SubjectRef | None
    cases: tuple[Case, ...]
    invocations: int
    name: str = "bisect"
    pool: str = LOCAL

    @property
    def subjects(self) -> tuple[SubjectRef, ...]:
        return self.ends if self.between is None else (*self.ends, self.between)

    @property
    def wish(self) -> Wish:
        good, bad = self.ends
        return Wish(
            name=self.name,
            description=f"{self.between or 'both ends'}: does it cost what {good} or what {bad} does?",
            subjects=self.subjects,
            cases=self.cases,
            invocations=self.invocations if self.between else ENDS * self.invocations,
            pools=(self.pool,),
            purpose=Purpose.SEARCH,
        )

    @property
    def catalogue_text(self) -> str:
        """A catalogue with its subjects: of a repository that may be built all commits may be."""
        document = {
            "apiVersion": "kexbench.dev/v1",
            "kind": "Catalogue",
            "libraries": {self.ends[0].library: [{"source": subject.source} for subject in self.subjects]},
        }
        return yaml.safe_dump(document, sort_keys=False)


def usual_invocations(cases: tuple[Case, ...]) -> int:
    """Of one measurement."""
    return affordable_invocations(cases, _SUBJECTS, SECONDS)
