"""What an invocation with both ends of a history and a commit between them says of the three."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.pairs import batches_of
from kexbench.analysis.rounds import Batches, all_positive, log_ratios
from kexbench.domain.samples import Invocation, Metric


@dataclass(frozen=True)
class Logs:
    """Log ratios, one an invocation: `steps` of the bad end to the good one, `places` of a commit to the middle of the
    two; none of a run of the ends alone."""

    steps: tuple[float, ...]
    places: tuple[float, ...]


def logs_of(
    invocations: Iterable[Invocation], case_id: str, ends: tuple[str, str], commit: str | None, metric: Metric
) -> Logs:
    """Of the invocations that hold all of them; nothing where a value is zero, which has no ratio to anything.

    The middle is that of the logs, in each round: the rounds of all three are paired.
    """
    found = list(invocations)
    good, bad = (batches_of(found, case_id, end, metric) for end in ends)
    placed = batches_of(found, case_id, commit, metric) if commit else {}
    shared = good.keys() & bad.keys() & (placed.keys() if commit else good.keys())
    good, bad, placed = (_only(subject, shared) for subject in (good, bad, placed))
    if not all_positive(good, bad, placed):
        return Logs((), ())
    middle: Mapping[str, tuple[float, ...]] = {
        key: tuple(float(np.sqrt(one * other)) for one, other in zip(good[key], bad[key], strict=False))
        for key in shared
    }
    return Logs(tuple(map(float, log_ratios(bad, good))), tuple(map(float, log_ratios(placed, middle))))


def _only(subject: Batches, keys: Iterable[str]) -> Batches:
    return {key: subject[key] for key in keys if key in subject}
