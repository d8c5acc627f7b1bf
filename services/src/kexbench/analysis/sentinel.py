"""The sentinel, a frozen subject in every job. Its changes come from the host, not from a library."""

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, trimmed_interval
from kexbench.analysis.rounds import Batches, is_positive, median_log_ratio
from kexbench.domain.intervals import Ratio
from kexbench.domain.verdicts import RELEVANT


class HostMove(Ratio):
    """The cost of the sentinel in a later run relative to an earlier one: 1.02 means that the host became 2% slower."""

    cases: int
    moved: bool = Field(description="the whole interval is beyond 0.5%: a host event, not a regression of a library")


def through_sentinel(subject: Batches, sentinel: Batches) -> dict[str, tuple[float]]:
    """A subject's cost relative to the sentinel's, for each invocation with both: the median over the rounds.

    Such ratios of two runs are comparable, since both costs contain the changes of the host. The keys are those of one
    run. Before `compare`, prefix them with the run's id, otherwise equal keys look like pairs.
    """
    return {
        key: (float(np.exp(median_log_ratio(values, sentinel[key]))),)
        for key, values in subject.items()
        if key in sentinel and is_positive(values) and is_positive(sentinel[key])
    }


def host_moves(earlier: Mapping[str, Sequence[float]], later: Mapping[str, Sequence[float]]) -> HostMove | None:
    """Whether a host moved between two runs, from the sentinel's invocation medians in each run by case.

    Each common case gives one value, the log ratio of its medians over invocations. The result is their 20% trimmed
    mean with its t interval, so that one odd case has no effect. The cases are the statistical unit here: None with
    fewer than three.
    """
    shared = [case for case in earlier if _positive(earlier[case]) and _positive(later.get(case, ()))]
    if len(shared) < MIN_COMPARED_INVOCATIONS:
        return None
    logs = np.array([np.log(np.median(later[case])) - np.log(np.median(earlier[case])) for case in shared])
    move = Ratio.of_logs(*trimmed_interval(logs))
    moved = move.low > 1 + RELEVANT or move.high < 1 - RELEVANT
    return HostMove(**vars(move), cases=len(shared), moved=moved)


def _positive(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0
