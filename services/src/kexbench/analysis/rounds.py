"""What an invocation says of two subjects: the batches of one round, which ran milliseconds apart, are compared.

A machine that changes its speed in the middle of an invocation moves the medians of all subjects, each by itself.
The batches of one round have the same speed nearly always, so their ratio hardly feels it.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

Vector: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
Batches: TypeAlias = Mapping[str, Sequence[float]]
"""Of one subject in one case: the batch values of each invocation, in the order of its rounds; not a number where a
batch does not know its value, and at least one number in each invocation."""


def all_positive(*subjects: Batches) -> bool:
    """Whether every value can be part of a ratio."""
    return all(np.nanmin(values) > 0 for subject in subjects for values in subject.values())


def medians(subject: Batches) -> Vector:
    """The median over the batches of each invocation that know their value, in the order of the mapping."""
    return np.array([np.nanmedian(values) for values in subject.values()])


def log_ratios(subject: Batches, against: Batches) -> Vector:
    """Of the invocations that hold both, in the order of their names: the interquartile mean over rounds of the log
    ratio of the two batches of the round. Without a round in common, the log ratio of the medians. All values above
    0."""
    shared = sorted(subject.keys() & against.keys())
    return np.array([interquartile_mean(by_round(subject[key], against[key])) for key in shared])


def interquartile_mean(values: Vector) -> float:
    """The mean without a quarter of the values at each end, rounded down, and without one at least where there are
    three: a slow batch does not count, and of those that do more tell than the median."""
    cut = max(len(values) // 4, int(len(values) > 2))
    return float(np.sort(values)[cut : len(values) - cut].mean())


def by_round(subject: Sequence[float], against: Sequence[float]) -> Vector:
    """The log ratios of one invocation, one for each round in which both have a value; a single one, of the medians,
    where there is no such round, or where the numbers of batches differ, so that nobody knows which belong together.
    All values above 0."""
    if len(subject) == len(against):
        logs = np.log(subject) - np.log(against)
        known: Vector = logs[~np.isnan(logs)]
        if len(known):
            return known
    return np.log([np.nanmedian(subject)]) - np.log([np.nanmedian(against)])
