"""What is kept of an invocation's batches when they are removed: the log ratio of every two subjects.

With it and the median of each subject, every comparison of invocations gives the same answer as with the batches.
"""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import numpy as np

from kexbench.analysis.estimates import Matrix
from kexbench.analysis.rounds import Vector, by_round, cut_at_each_end, interquartile_mean, median_of
from kexbench.domain.batches import LOG_STEPS

Steps: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int32]]
Places: TypeAlias = np.ndarray[tuple[int], np.dtype[np.intp]]
_NEAR_TIE = 1e-5
"""In steps. The last digits of a logarithm differ between the database and Python, and with the order of a sum. So
close to the middle between two steps, they could decide which way it is rounded."""
_MOST_STEPS = 2**31 - 1


def kept_of(subjects: Sequence[Vector], medians: Sequence[float]) -> Steps | None:
    """The ratios of each subject to the following ones, in steps. None if the batches must stay: a value is 0, a stored
    median has other last digits than the median of its batches, or the rounding of a ratio is not certain."""
    ratios = _of_equal_rounds(subjects, medians) if len({len(values) for values in subjects}) == 1 else None
    if ratios is None:
        ratios = _of_any_rounds(subjects, medians)
    if ratios is None:
        return None
    steps = ratios * LOG_STEPS
    nearest = np.rint(steps)
    is_certain = (np.abs(steps - nearest) < 0.5 - _NEAR_TIE) & (np.abs(steps) < _MOST_STEPS)
    return nearest.astype(np.int32) if is_certain.all() else None


def _of_equal_rounds(subjects: Sequence[Vector], medians: Sequence[float]) -> Matrix | None:
    """The usual case. None if it is not, or if the batches must stay."""
    batches = np.array(subjects)
    count = batches.shape[1]
    if not (batches > 0).all() or (_middle(np.sort(batches, axis=1)) != medians).any():
        return None
    logs = np.log(batches)
    firsts, seconds = _pairs(len(batches))
    ordered = np.sort(logs[firsts] - logs[seconds], axis=1)
    cut = cut_at_each_end(count)
    ratios: Matrix = np.stack((ordered[:, cut : count - cut].mean(axis=1), _middle(ordered)), axis=1)
    return ratios


def _of_any_rounds(subjects: Sequence[Vector], medians: Sequence[float]) -> Matrix | None:
    if not all(map(len, subjects)) or any((values <= 0).any() for values in subjects):
        return None
    if any(median_of(values.tolist()) != stored for values, stored in zip(subjects, medians, strict=True)):
        return None
    pairs = zip(*(places.tolist() for places in _pairs(len(subjects))), strict=True)
    rounds = [by_round(subjects[first].tolist(), subjects[second].tolist()) for first, second in pairs]
    return np.array([(interquartile_mean(logs), float(np.median(logs))) for logs in rounds]).reshape(-1, 2)


def _middle(ordered: Matrix) -> Vector:
    """The median of each row of sorted values."""
    count = ordered.shape[-1]
    middle: Vector = (ordered[:, (count - 1) // 2] + ordered[:, count // 2]) / 2
    return middle


@cache
def _pairs(count: int) -> tuple[Places, Places]:
    """Each subject with the following ones."""
    firsts, seconds = np.triu_indices(count, 1)
    return firsts.astype(np.intp), seconds.astype(np.intp)
