"""How good a change-point detector is on labelled histories (data/changepoints).

A change found within five points of a labelled one is a hit; each of the two is used once, nearest pairs first. Labels
that nobody could find, and places to ignore, count neither as missed nor as false alarms.
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
"""Chosen before anything was tuned."""
LOOKED_AFTER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
"""After how many points of a new level the delay is looked for."""
CLEAR_SNR = 2.5
"""Delays are those of steps of at least so many noises: of lesser ones they are what the series is short of."""
PROMPT_FAMILIES = ("steps", "heavy", "hw")

Detector = Callable[[Sequence[float]], Sequence[int]]


@dataclass(frozen=True)
class Label:
    """A change that is there: the index of the first value after it."""

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
        """Nothing changes in it."""
        return self.family.endswith("null")

    @property
    def fold(self) -> int:
        """By the hash of the id; what has the same history beneath is in the same fold."""
        history = self.id.removeprefix("AA:").removeprefix("inj:")
        return int.from_bytes(hashlib.sha256(history.encode()).digest()[:8], "big") % FOLDS

    @property
    def held_back(self) -> bool:
        return self.fold in HELD_BACK


@dataclass(frozen=True)
class Score:
    """Of some series together. Precision and recall are nan where nothing was found and where nothing was to be."""

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
                id=each["id"],
                family=each["family"],
                values=tuple(each["values"]),
                labels=tuple(Label(label["i"], label["detectable"], label["snr"]) for label in each["cps"]),
                ignored=tuple(each.get("ignore", ())),
            )
            for each in json.load(file)
        ]


def folds(series: Sequence[LabelledSeries]) -> tuple[list[LabelledSeries], list[LabelledSeries]]:
    """Those to tune on, and those that were held back."""
    return [one for one in series if not one.held_back], [one for one in series if one.held_back]


def score(series: Sequence[LabelledSeries], found: Sequence[Sequence[int]]) -> Score:
    """Of what was `found` in each of the series, in the same order."""
    counts = [(*_counts(one, indices), len(one.values)) for one, indices in zip(series, found, strict=True)]
    families = sorted({one.family for one in series})
    return Score(
        *_total(counts),
        by_family={
            family: Score(*_total([each for one, each in zip(series, counts, strict=True) if one.family == family]))
            for family in families
        },
    )


def delays(detect: Detector, series: Sequence[LabelledSeries], limit: int = 60) -> list[float]:
    """How many points of the new level it takes to find each of the first `limit` clear steps, inf where it is not."""
    return [
        next(
            (float(after) for after in LOOKED_AFTER if after <= room and _found_by(detect, one, label, after)), math.inf
        )
        for one, label, room in list(_clear_steps(series))[:limit]
    ]


def _clear_steps(series: Sequence[LabelledSeries]) -> Iterator[tuple[LabelledSeries, Label, int]]:
    for one in series:
        ends = [*[label.index for label in one.labels[1:]], len(one.values)]
        for label, end in zip(one.labels, ends, strict=False):
            if one.family in PROMPT_FAMILIES and label.detectable and (label.snr or 0) >= CLEAR_SNR:
                yield one, label, end - label.index


def _found_by(detect: Detector, one: LabelledSeries, label: Label, after: int) -> bool:
    return any(abs(index - label.index) <= MARGIN for index in detect(one.values[: label.index + after]))


def _counts(one: LabelledSeries, found: Collection[int]) -> tuple[int, int, int]:
    """Hits, misses and false alarms."""
    places = sorted({index for index in found if 0 < index < len(one.values)})
    matched = _matches([label.index for label in one.labels], places)
    hits = sum(label.detectable and number in matched for number, label in enumerate(one.labels))
    neutral = [*one.ignored, *(label.index for label in one.labels if not label.detectable)]
    used = set(matched.values())
    false_alarms = sum(
        number not in used and all(abs(place - each) > MARGIN for each in neutral)
        for number, place in enumerate(places)
    )
    return hits, sum(label.detectable for label in one.labels) - hits, false_alarms


def _matches(labels: Sequence[int], places: Sequence[int]) -> dict[int, int]:
    """Which place belongs to which label."""
    matched: dict[int, int] = {}
    pairs = ((abs(label - place), i, j) for i, label in enumerate(labels) for j, place in enumerate(places))
    for _, i, j in sorted(pair for pair in pairs if pair[0] <= MARGIN):
        if i not in matched and j not in matched.values():
            matched[i] = j
    return matched


def _total(counts: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    hits, misses, false_alarms, points = (sum(each[part] for each in counts) for part in range(4))
    return hits, misses, false_alarms, points


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else math.nan
