"""Scores a change-point detector on labelled histories (data/changepoints).

A detected change within five points of a label is a hit. Each change and each label is used once, nearest pairs first.
Undetectable labels and ignored places count neither as misses nor as false alarms.
"""

import gzip
import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

DATA = Path(__file__).parent / "data" / "changepoints"
NAMES = ("synthetic", "semireal", "real")
MARGIN = 5
FOLDS, HELD_BACK = 5, (0, 1)
"""Chosen before any tuning."""
LOOKED_AFTER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
"""The delays to try, in points of the new level."""
CLEAR_SNR = 2.5
"""Smallest step for delays, in standard deviations of the noise. Series are too short for smaller ones."""
PROMPT_FAMILIES = ("steps", "heavy", "hw")

Detector = Callable[[Sequence[float]], Sequence[int]]


@dataclass(frozen=True)
class Label:
    """A true change: the index of the first value after it."""

    index: int
    detectable: bool
    snr: float | None


@dataclass(frozen=True)
class LabelledSeries:
    id: str
    family: str
    values: tuple[float, ...]
    labels: tuple[Label, ...]
    ignored: tuple[int, ...]

    @property
    def null(self) -> bool:
        """Whether the series has no change."""
        return self.family.endswith("null")

    @property
    def fold(self) -> int:
        """From the hash of the id. Series made from the same history are in the same fold."""
        history = self.id.removeprefix("AA:").removeprefix("inj:")
        return int.from_bytes(hashlib.sha256(history.encode()).digest()[:8], "big") % FOLDS

    @property
    def held_back(self) -> bool:
        return self.fold in HELD_BACK


@dataclass(frozen=True)
class Score:
    """The score over several series. Precision is NaN without detected changes, recall without detectable labels."""

    hits: int
    misses: int
    false_alarms: int
    points: int
    by_family: Mapping[str, "Score"] = field(default_factory=dict)

    @property
    def precision(self) -> float:
        return _share(self.hits, self.false_alarms)

    @property
    def recall(self) -> float:
        return _share(self.hits, self.misses)

    @property
    def f1(self) -> float:
        return _share(2 * self.hits, self.misses + self.false_alarms)

    @property
    def false_alarms_per_1000(self) -> float:
        return 1000 * self.false_alarms / self.points if self.points else math.nan


def load(name: str) -> list[LabelledSeries]:
    with gzip.open(DATA / f"{name}.json.gz", "rt") as file:
        return [
            LabelledSeries(
                id=row["id"],
                family=row["family"],
                values=tuple(row["values"]),
                labels=tuple(Label(label["i"], label["detectable"], label["snr"]) for label in row["cps"]),
                ignored=tuple(row.get("ignore", ())),
            )
            for row in json.load(file)
        ]


def folds(series: Sequence[LabelledSeries]) -> tuple[list[LabelledSeries], list[LabelledSeries]]:
    """The series for tuning, and those that are held back."""
    return [item for item in series if not item.held_back], [item for item in series if item.held_back]


def score(series: Sequence[LabelledSeries], detected: Sequence[Sequence[int]]) -> Score:
    """The score of the changes `detected` in each series, in the same order."""
    counts = [(*_counts(item, indices), len(item.values)) for item, indices in zip(series, detected, strict=True)]
    families = sorted({history.family for history in series})
    return Score(
        *_total(counts),
        by_family={
            family: Score(*_total([count for item, count in zip(series, counts, strict=True) if item.family == family]))
            for family in families
        },
    )


def delays(detect: Detector, series: Sequence[LabelledSeries], limit: int = 60) -> list[float]:
    """The points of the new level needed to detect each of the first `limit` clear steps, inf if it is not detected."""
    return [
        next((float(n) for n in LOOKED_AFTER if n <= size and _detects(detect, item, label, n)), math.inf)
        for item, label, size in list(_clear_steps(series))[:limit]
    ]


def _clear_steps(series: Sequence[LabelledSeries]) -> Iterator[tuple[LabelledSeries, Label, int]]:
    for history in series:
        ends = [*[label.index for label in history.labels[1:]], len(history.values)]
        for label, end in zip(history.labels, ends, strict=False):
            if history.family in PROMPT_FAMILIES and label.detectable and (label.snr or 0) >= CLEAR_SNR:
                yield history, label, end - label.index


def _detects(detect: Detector, history: LabelledSeries, label: Label, after: int) -> bool:
    return any(abs(index - label.index) <= MARGIN for index in detect(history.values[: label.index + after]))


def _counts(history: LabelledSeries, detected: Collection[int]) -> tuple[int, int, int]:
    """Hits, misses and false alarms."""
    places = sorted({index for index in detected if 0 < index < len(history.values)})
    matched = _matches([label.index for label in history.labels], places)
    hits = sum(label.detectable and number in matched for number, label in enumerate(history.labels))
    neutral = [*history.ignored, *(label.index for label in history.labels if not label.detectable)]
    used = set(matched.values())
    false_alarms = sum(
        number not in used and all(abs(place - index) > MARGIN for index in neutral)
        for number, place in enumerate(places)
    )
    return hits, sum(label.detectable for label in history.labels) - hits, false_alarms


def _matches(labels: Sequence[int], places: Sequence[int]) -> dict[int, int]:
    """The number of the matching place by the number of the label."""
    matched: dict[int, int] = {}
    pairs = ((abs(label - place), i, j) for i, label in enumerate(labels) for j, place in enumerate(places))
    for _, i, j in sorted(pair for pair in pairs if pair[0] <= MARGIN):
        if i not in matched and j not in matched.values():
            matched[i] = j
    return matched


def _total(counts: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    hits, misses, false_alarms, points = (sum(count[part] for count in counts) for part in range(4))
    return hits, misses, false_alarms, points


def _share(part: int, others: int) -> float:
    return part / (part + others) if part + others else math.nan
