"""The runs of a bisection: both ends, and a commit between them, measured in one block. Pure."""

from dataclasses import dataclass

import yaml

from kexbench.domain.cases import Case
from kexbench.domain.instruments import Instrument
from kexbench.domain.kits import SubjectRef
from kexbench.domain.pools import LOCAL
from kexbench.domain.runs import Purpose
from kexbench.planning.compose import COUNTS, Wish, affordable_invocations

ENDS = 2
"""The run of the ends alone has this many times the usual invocations, since the search rests on their difference."""
SECONDS = 60
"""Measuring time of one commit: less than building it takes."""
_SUBJECTS = 3


@dataclass(frozen=True)
class BisectionRun:
    """One run of a bisection: `between` is None where the ends are measured alone. Counts of the ends hold for all
    runs, so later runs count the commit between them alone."""

    ends: tuple[SubjectRef, SubjectRef]
    between: SubjectRef | None
    cases: tuple[Case, ...]
    invocations: int
    name: str = "bisect"
    pool: str = LOCAL
    instrument: Instrument = Instrument.TIME

    @property
    def subjects(self) -> tuple[SubjectRef, ...]:
        if self.between is None:
            return self.ends
        return (self.between,) if self.instrument.counts else (*self.ends, self.between)

    @property
    def wish(self) -> Wish:
        good, bad = self.ends
        counts = self.instrument.counts
        return Wish(
            name=self.name,
            description=f"{self.between or 'both ends'}: does it cost what {good} or what {bad} does?",
            subjects=self.subjects,
            cases=self.cases,
            invocations=self.invocations if self.between or counts else ENDS * self.invocations,
            pools=(self.pool,),
            purpose=Purpose.SEARCH,
            instrument=self.instrument,
        )

    @property
    def catalogue_text(self) -> str:
        """A catalogue of the subjects: if a repository may be built, so may all its commits."""
        document = {
            "apiVersion": "kexbench.dev/v1",
            "kind": "Catalogue",
            "libraries": {self.ends[0].library: [{"source": subject.source} for subject in self.subjects]},
        }
        return yaml.safe_dump(document, sort_keys=False)


def usual_invocations(cases: tuple[Case, ...], instrument: Instrument) -> int:
    """Invocations of one measurement."""
    if instrument.counts:
        return COUNTS
    return affordable_invocations(cases, _SUBJECTS, SECONDS)
