"""Change points on labelled histories: our detector and the detectors of others on the same data."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.changepoint_score import NAMES, LabelledSeries, delays, folds, load, score
from bench.scorecard.detectors import Detector
from bench.scorecard.figures import Counts, bootstrapped, median, name, rate, two_digits
from kexbench.analysis.rounds import Vector
from kexbench.domain.scorecard import ScorecardCell, ScorecardRow, ScorecardTable

POINTS_A_WEEK = 7
"""One for each night."""
CPU_POINTS, CPU_SERIES, CPU_TIMES, CPU_SEED = 500, 8, 3, 0
TITLES = {
    "all": "All histories",
    "synthetic": "Synthetic histories",
    "semireal": "Real histories of unchanged programs, with and without planted steps",
    "real": "Real histories, annotated by eye",
    "held back": "Histories that were held back",
}
COLUMNS = (
    "method",
    "F1",
    "precision",
    "recall",
    "false alarms per 1,000 points",
    "per 1,000 series-weeks",
    "per 1,000 points of unchanged series",
    "delay, points",
)


@dataclass(frozen=True)
class Examined:
    """The result of a detector on a set: for each series hits, misses, false alarms and points, and whether it has no
    change."""

    detector: Detector
    counts: tuple[Counts, ...]
    unchanged: tuple[bool, ...]
    delays: tuple[float, ...]

    @property
    def sums(self) -> Vector:
        """Over all series."""
        sums: Vector = np.sum(self.counts, axis=0, dtype=float)
        return sums

    @property
    def changing(self) -> list[Counts]:
        """For each series with a change."""
        return [count for count, null in zip(self.counts, self.unchanged, strict=True) if not null]

    @property
    def f1(self) -> float:
        """As usual for change points: over the series with a change."""
        return f1(np.sum(self.changing, axis=0, dtype=float))


def sets() -> dict[str, list[LabelledSeries]]:
    """The labelled histories: each set, all of them, and the folds that were held back."""
    loaded = {name: load(name) for name in NAMES}
    everything = [series for several in loaded.values() for series in several]
    return loaded | {"all": everything, "held back": folds(everything)[1]}


def size(kind: str, series: Sequence[LabelledSeries]) -> str:
    """`160 synthetic (24,000 points, 143 changes)`."""
    points = sum(len(each.values) for each in series)
    changes = sum(label.detectable for each in series for label in each.labels)
    return f"{len(series)} {kind} ({points:,} points, {changes:,} changes)"


def thinned(series: Sequence[LabelledSeries], least: int) -> list[LabelledSeries]:
    """At least `least` of the series, evenly spaced."""
    return list(series[:: max(1, len(series) // least)])


def examine(detector: Detector, series: Sequence[LabelledSeries], delays_of: int) -> Examined:
    scores = [score([each], [detector.detect(each.values)]) for each in series]
    counts = tuple((each.hits, each.misses, each.false_alarms, each.points) for each in scores)
    waited = delays(detector.detect, series, delays_of)
    return Examined(detector, counts, tuple(each.null for each in series), tuple(waited))


def table(title: str, examined: Sequence[Examined]) -> ScorecardTable:
    rows = (ScorecardRow(ours=each.detector.ours, cells=(name(each.detector.name), *_cells(each))) for each in examined)
    return ScorecardTable(title=title, columns=COLUMNS, rows=tuple(rows))


def _cells(examined: Examined) -> Iterator[ScorecardCell]:
    for statistic in (f1, precision, recall):
        yield bootstrapped(examined.changing, statistic, two_digits)
    alarms = [(false_alarms, points) for _, _, false_alarms, points in examined.counts]
    yield rate(alarms, 1000, two_digits)
    yield rate(alarms, 1000 * POINTS_A_WEEK, two_digits)
    yield rate([alarm for alarm, null in zip(alarms, examined.unchanged, strict=True) if null], 1000, two_digits)
    yield median(examined.delays)


def cpu_table(seconds: Mapping[str, Sequence[float]], ours: Sequence[str]) -> ScorecardTable:
    """CPU-seconds for 1,000 series of 500 points, extrapolated from each of some series."""
    rows = (
        ScorecardRow(ours=detector in ours, cells=(name(detector), median_seconds(taken)))
        for detector, taken in seconds.items()
    )
    return ScorecardTable(
        title="CPU time", columns=("method", f"CPU-seconds for 1,000 series of {CPU_POINTS} points"), rows=tuple(rows)
    )


def median_seconds(taken: Sequence[float]) -> ScorecardCell:
    """The median over some series, with minimum and maximum."""
    middle, least, most = float(np.median(taken)), min(taken), max(taken)
    text = f"{_seconds(middle)} ({_seconds(least)} to {_seconds(most)})"
    return ScorecardCell(text=text, value=middle, low=least, high=most)


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def cpu_seconds(detectors: Sequence[Detector]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """By detector and series, for 1,000 series of 500 points, extrapolated from each of a few: noise of 1% with none to
    three steps of 5%. The minimum of three times in a row, so that caches are warm."""
    random = np.random.default_rng(CPU_SEED)
    taken = []
    for number in range(CPU_SERIES):
        levels = np.zeros(CPU_POINTS)
        for place in random.integers(20, CPU_POINTS - 20, size=number % 4):
            levels[place:] += 0.05 * random.choice([-1, 1])
        values = np.exp(levels + 0.01 * random.standard_normal(CPU_POINTS)).tolist()
        taken.append([1000 * min(_timed(detector, values) for _ in range(CPU_TIMES)) for detector in detectors])
    return np.array(taken).T


def _timed(detector: Detector, values: Sequence[float]) -> float:
    began = time.process_time()
    detector.detect(values)
    return time.process_time() - began


def precision(sums: Vector) -> float:
    return _ratio(sums[0], sums[2])


def recall(sums: Vector) -> float:
    return _ratio(sums[0], sums[1])


def f1(sums: Vector) -> float:
    return _ratio(2 * sums[0], sums[1] + sums[2])


def _ratio(part: float, others: float) -> float:
    return float(part / (part + others)) if part + others else float("nan")


def sentence(examined: Mapping[str, Sequence[Examined]]) -> str:
    """Ours and the best of the others on all histories."""
    everything = examined["all"]
    ours = next(each for each in everything if each.detector.ours)
    best = max((each for each in everything if not each.detector.ours), key=lambda each: each.f1)
    held_back = next(each for each in examined["held back"] if each.detector.ours)
    return (
        f"On all histories, kexbench has an F1 of {ours.f1:.2f} ({held_back.f1:.2f} on those held back). "
        f"The best other method, {best.detector.name}, has {best.f1:.2f}."
    )
