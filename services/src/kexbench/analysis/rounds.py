"""Compares two subjects within an invocation, by the batches of each round, which ran milliseconds apart.

If the machine changes its speed during an invocation, the median of each subject moves differently. The batches of one
round nearly always have the same speed, so their ratio is hardly affected.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from statistics import median
from typing import TypeAlias

import numpy as np

from kexbench.domain.batches import LOG_STEPS, RemovedBatches, RoundRatio, Values

Vector: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
Batches: TypeAlias = Mapping[str, Values]
"""The batch values of one subject in one case, by invocation. Each invocation has at least one number."""


def all_positive(*subjects: Batches) -> bool:
    """Whether every value can be part of a ratio."""
    return all(is_positive(values) for subject in subjects for values in subject.values())


def is_positive(values: Values) -> bool:
    return isinstance(values, RemovedBatches) or min(values) > 0 or not any(value <= 0 for value in values)


def medians(subject: Batches) -> Vector:
    """The median over the known batch values of each invocation, in the order of the mapping."""
    return np.array([median_of(values) for values in subject.values()])


def median_of(values: Values) -> float:
    if isinstance(values, RemovedBatches):
        return values.median
    return median([value for value in values if not isnan(value)])


def values_of(values: Values) -> Sequence[float]:
    """For results whose batches are never removed."""
    assert not isinstance(values, RemovedBatches)
    return values


def log_ratios(subject: Batches, against: Batches) -> Vector:
    """The log ratio of each invocation with both subjects, in the order of their names: the interquartile mean over
    rounds of the log ratio of the two batches. Without a common round, the log ratio of the medians. All values must be
    above 0."""
    shared = sorted(subject.keys() & against.keys())
    first, second = [subject[key] for key in shared], [against[key] for key in shared]
    logs = _alike_ratios(first, second)
    return np.array([log_ratio(*both) for both in zip(first, second, strict=True)]) if logs is None else logs


def _alike_ratios(subject: Sequence[Values], against: Sequence[Values]) -> "Vector | None":
    """As `log_ratio` of each, computed together, which takes a fraction of the time. None unless all invocations have
    the same rounds."""
    lengths = {-1 if isinstance(values, RemovedBatches) else len(values) for values in (*subject, *against)}
    if len(lengths) != 1 or lengths == {-1}:
        return None
    logs = np.log(np.array(subject)) - np.log(np.array(against))
    if np.isnan(logs).any():
        return None
    count = logs.shape[1]
    cut = cut_at_each_end(count)
    means = np.sort(logs, axis=1)[:, cut : count - cut].mean(axis=1)
    ratios: Vector = np.rint(means * LOG_STEPS) / LOG_STEPS + 0.0
    return ratios


def log_ratio(subject: Values, against: Values) -> float:
    """That of one invocation."""
    if isinstance(subject, RemovedBatches) or isinstance(against, RemovedBatches):
        return _kept_ratio(subject, against).mean
    return rounded(interquartile_mean(by_round(subject, against)))


def median_log_ratio(subject: Values, against: Values) -> float:
    """The median over the rounds of an invocation."""
    if isinstance(subject, RemovedBatches) or isinstance(against, RemovedBatches):
        return _kept_ratio(subject, against).median
    return rounded(float(np.median(by_round(subject, against))))


def rounded(log: float) -> float:
    return float(np.rint(log * LOG_STEPS)) / LOG_STEPS + 0.0  # never -0.0


def _kept_ratio(subject: Values, against: Values) -> RoundRatio:
    """Without a kept one, the two have no common round."""
    if isinstance(subject, RemovedBatches) and isinstance(against, RemovedBatches):
        if ratio := subject.ratios.get(against.subject):
            return ratio
        if ratio := against.ratios.get(subject.subject):
            return RoundRatio(0.0 - ratio.mean, 0.0 - ratio.median)
    log = rounded(float(np.log(median_of(subject)) - np.log(median_of(against))))
    return RoundRatio(log, log)


def interquartile_mean(values: Vector) -> float:
    """The mean without a quarter of the values at each end, rounded down, but at least one if there are
    three. Slow batches do not count, and it uses more values than the median."""
    cut = cut_at_each_end(len(values))
    return float(np.sort(values)[cut : len(values) - cut].mean())


def cut_at_each_end(count: int) -> int:
    """How many of so many values an interquartile mean leaves out at each end."""
    return max(count // 4, int(count > 2))


def by_round(subject: Sequence[float], against: Sequence[float]) -> Vector:
    """The log ratios of one invocation, one for each round in which both have a value. If there is no such round, or
    the numbers of batches differ, so that they cannot be matched, a single log ratio of the medians. All values must be
    above 0."""
    if len(subject) == len(against):
        logs = np.log(subject) - np.log(against)
        known_logs: Vector = logs[~np.isnan(logs)]
        if len(known_logs):
            return known_logs
    return np.log([np.nanmedian(subject)]) - np.log([np.nanmedian(against)])
