"""Compares two subjects within an invocation, by the batches of each round, which ran milliseconds apart.

If the machine changes its speed during an invocation, the median of each subject moves differently. The batches of one
round nearly always have the same speed, so their ratio is hardly affected.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from statistics import median
from typing import TypeAlias

import numpy as np

Vector: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
Batches: TypeAlias = Mapping[str, Sequence[float]]
"""The batch values of one subject in one case, by invocation, in the order of the rounds. NaN is an unknown value. Each
invocation has at least one number."""


def all_positive(*subjects: Batches) -> bool:
    """Whether every value can be part of a ratio."""
    return not any(value <= 0 for subject in subjects for values in subject.values() for value in values)


def medians(subject: Batches) -> Vector:
    """The median over the known batch values of each invocation, in the order of the mapping."""
    return np.array([median(value for value in values if not isnan(value)) for values in subject.values()])


def log_ratios(subject: Batches, against: Batches) -> Vector:
    """The log ratio of each invocation with both subjects, in the order of their names: the interquartile mean over
    rounds of the log ratio of the two batches. Without a common round, the log ratio of the medians. All values must be
    above 0."""
    shared = sorted(subject.keys() & against.keys())
    return np.array([interquartile_mean(by_round(subject[key], against[key])) for key in shared])


def interquartile_mean(values: Vector) -> float:
    """The mean without a quarter of the values at each end, rounded down, but at least one if there are
    three. Slow batches do not count, and it uses more values than the median."""
    cut = max(len(values) // 4, int(len(values) > 2))
    return float(np.sort(values)[cut : len(values) - cut].mean())


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
