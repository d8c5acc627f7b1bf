"""What a run measures that has to confirm a suspicion: two versions of a library alone, in the cases in which the newer
one looked slower, with more invocations. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case, parse_peer
from kexbench.domain.dimensions import NOTHING
from kexbench.domain.kits import SubjectRef
from kexbench.domain.plans import Measure
from kexbench.planning.compose import Wish
from kexbench.planning.estimate import estimated_seconds

_LEAST_S, _MOST_S = 3600, 999_999
"""Bounds of what it may take; a spec can write no more."""
_NAME_MAX = 63


@dataclass(frozen=True)
class ConfirmingRun:
    """`measure` is that of the run which raised the suspicion, so that both are measured alike."""

    spec_name: str
    ends: tuple[SubjectRef, SubjectRef]
    cases: tuple[Case, ...]
    pools: tuple[str, ...]
    invocations: int
    measure: Measure

    @property
    def wish(self) -> Wish:
        before, after = self.ends
        parties = len(self.ends)
        own = self.measure.model_copy(update={"invocations": self.invocations})
        return Wish(
            name=f"confirm-{self.spec_name}"[:_NAME_MAX].rstrip("-"),
            description=f"{after}: does it cost more than {before}?",
            subjects=self.ends,
            cases=self.cases,
            invocations=self.invocations,
            batches=self.measure.batches,
            max_duration_s=_allowed_s(estimated_seconds(self.cases, parties, len(self.pools), own)),
            pools=self.pools,
            isolation=self.measure.isolation,
        )

    @property
    def catalogue_text(self) -> str:
        """A catalogue with its subjects and peers: they were measured already, so they may be measured again."""
        known: dict[str, list[dict[str, str]]] = {}
        for ref in dict.fromkeys([*self.ends, *_peers(self.cases)]):
            known.setdefault(ref.library, []).append({"source": ref.source})
        document = {"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": known}
        return yaml.safe_dump(document, sort_keys=False)


def confirming_run_id(run_id: str, ended_at: str, library: str, before: str, after: str) -> str:
    """Whoever asks again for the run that confirms what a run suspects of an upgrade gets that one; a run that was
    resumed and has ended again may suspect more."""
    return f"once-{content_hash(['confirmation', run_id, ended_at, library, before, after], length=20)}"


def _peers(cases: Sequence[Case]) -> list[SubjectRef]:
    return [parse_peer(case.peer)[1] for case in cases if case.peer != NOTHING]


def _allowed_s(estimated_s: float) -> int:
    """The estimate is a guess: a confirmation is not to fail for it."""
    return min(max(_LEAST_S, math.ceil(2 * estimated_s)), _MOST_S)
