"""Confirmation runs: they measure two versions of a library, only in the cases in which the newer one looked slower,
with more invocations. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case, parse_peer
from kexbench.domain.dimensions import NOTHING
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import Measure
from kexbench.planning.compose import JOBS_OF_A_VERDICT, Wish
from kexbench.planning.estimate import estimated_seconds

_LEAST_S, _MOST_S = 3600, 999_999
"""Bounds of the run's maximum duration; a spec can write no more."""
_NAME_MAX = 63


@dataclass(frozen=True)
class ConfirmingRun:
    """`measure` comes from the run that raised the suspicion, so that both measure in the same way."""

    spec_name: str
    ends: tuple[SubjectRef, SubjectRef]
    cases: tuple[Case, ...]
    pools: tuple[str, ...]
    invocations: int
    measure: Measure

    @property
    def wish(self) -> Wish:
        before, after = self.ends
        participants = len(self.ends)
        measure = self.measure.model_copy(
            update={"invocations": self.invocations, "jobs": max(self.measure.jobs, JOBS_OF_A_VERDICT)}
        )
        return Wish(
            name=f"confirm-{self.spec_name}"[:_NAME_MAX].rstrip("-"),
            description=f"{after}: is it slower than {before}?",
            subjects=self.ends,
            cases=self.cases,
            invocations=self.invocations,
            batches=self.measure.batches,
            max_duration_s=_allowed_s(estimated_seconds(self.cases, participants, len(self.pools), measure)),
            pools=self.pools,
            isolation=self.measure.isolation,
            instrument=self.measure.instrument,
            jobs=measure.jobs,
            connections=self.measure.connections,
            starts=self.measure.starts,
            age=self.measure.age,
        )

    @property
    def catalogue_text(self) -> str:
        return catalogue_of(self.ends, self.cases)


def catalogue_of(subjects: Sequence[SubjectRef], cases: Sequence[Case]) -> str:
    """A catalogue of the subjects and peers: they were measured before, so they may be measured again."""
    libraries: dict[str, list[dict[str, str]]] = {}
    for ref in dict.fromkeys([*subjects, *_peers(cases)]):
        libraries.setdefault(ref.library, []).append({"source": ref.source})
    document = {"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": libraries}
    return yaml.safe_dump(document, sort_keys=False)


def confirming_run_id(run_id: str, ended_at: str, library: str, before: str, after: str) -> str:
    """The same for every request to confirm what a run suspects of an upgrade. A run that was resumed and ended again
    may suspect more, so its `ended_at` counts."""
    return f"once-{content_hash(['confirmation', run_id, ended_at, library, before, after], length=20)}"


def _peers(cases: Sequence[Case]) -> list[SubjectRef]:
    return [parse_peer(case.peer)[1] for case in cases if case.peer != NOTHING]


def _allowed_s(estimated_s: float) -> int:
    """Twice the estimate, within bounds: a wrong estimate should not make a confirmation fail."""
    return min(max(_LEAST_S, math.ceil(2 * estimated_s)), _MOST_S)
