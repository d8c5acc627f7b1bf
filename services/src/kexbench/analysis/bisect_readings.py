"""Log ratios from invocations with both ends of a history and a commit between them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.rounds import Batches, all_positive, log_ratios, values_of


@dataclass(frozen=True)
class Logs:
    """Log ratios, one per invocation: `steps` of the bad end to the good one, `places` of a commit to the middle of the
    two. `places` is empty for a run of the ends only."""

    steps: tuple[float, ...]
    places: tuple[float, ...]


def logs_of(ends: tuple[Batches, Batches], commit: Batches | None) -> Logs:
    """The log ratios of one case over the invocations with all subjects; empty if a value is zero, which has no ratio.
    `commit` is None if only the ends were measured.

    The middle is the mean of the logs in each round: the rounds of all three are paired. So batches of bisections are
    never removed.
    """
    shared = ends[0].keys() & ends[1].keys() & (ends[0].keys() if commit is None else commit.keys())
    good, bad, placed = (_only(subject, shared) for subject in (*ends, commit or {}))
    if not all_positive(good, bad, placed):
        return Logs((), ())
    middle: Mapping[str, tuple[float, ...]] = {
        key: tuple(
            float(np.sqrt(low * high)) for low, high in zip(values_of(good[key]), values_of(bad[key]), strict=False)
        )
        for key in shared
    }
    return Logs(tuple(map(float, log_ratios(bad, good))), tuple(map(float, log_ratios(placed, middle))))


def _only(subject: Batches, keys: Iterable[str]) -> Batches:
    return {key: subject[key] for key in keys if key in subject}
