"""Steps in real data: nightly series of measured invocations, with measured slower ones from some night on."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from bench.changepoint_score import Label, LabelledSeries
from bench.scorecard.detectors import Detector
from bench.scorecard.figures import bootstrapped, figure, median, name, rate, two_digits
from bench.scorecard.histories import POINTS_A_WEEK, Examined, examine, f1, precision, recall
from bench.scorecard.pool import AGAIN, PLAIN, STEPS, Pool, burned
from kexbench.analysis.estimates import trimmed_interval
from kexbench.analysis.rounds import Vector, log_ratios
from kexbench.domain.numbers import signed_words
from kexbench.domain.scorecard import ScorecardCell, ScorecardRow, ScorecardTable

NIGHTS, EDGE = 90, 15
"""Nights of a series, and the minimum distance of a step from both ends."""
A_NIGHT = 10
"""Invocations a night, as in a run."""
SEED = 0


def series_of(pools: Sequence[Pool], each: int) -> dict[float, list[LabelledSeries]]:
    """`each` series for every pool and step, with the step at a random place; 0 is no step."""
    random = np.random.default_rng(SEED)
    return {
        step: [_series(pool, step, number, random) for pool in pools for number in range(each)]
        for step in (0.0, *STEPS)
    }


def _series(pool: Pool, step: float, number: int, random: np.random.Generator) -> LabelledSeries:
    before = pool.nightly(AGAIN)
    after = pool.nightly(burned(step)) if step else before
    place = int(random.integers(EDGE, NIGHTS - EDGE))
    values = (*nights(before, place, random), *nights(after, NIGHTS - place, random))
    return LabelledSeries(
        id=f"{pool.library}:{pool.case.case_id}:{step:g}:{number}",
        family="steps" if step else "steps:null",
        values=values,
        labels=(Label(place, detectable=True, snr=float("inf")),) if step else (),
        ignored=(),
    )


def nights(invocations: Vector, count: int, random: np.random.Generator) -> tuple[float, ...]:
    """`count` nights: each is the median of ten consecutive invocations from a random place in the pool, so that the
    machine affects them together."""
    starts = random.integers(len(invocations) - A_NIGHT + 1, size=count)
    return tuple(float(np.median(invocations[start : start + A_NIGHT])) for start in starts)


def examine_steps(
    detector: Detector, series: Mapping[float, Sequence[LabelledSeries]], delays_of: int
) -> dict[float, Examined]:
    """With delays of `delays_of` series of each step, shuffled, so that every pool is among them."""
    examined = {}
    for step, several in series.items():
        shuffled = [several[place] for place in np.random.default_rng(SEED).permutation(len(several))]
        examined[step] = examine(detector, shuffled, delays_of)
    return examined


def table(examined: Sequence[Mapping[float, Examined]]) -> ScorecardTable:
    columns = ("method", "precision", "false alarms per 1,000 series-weeks")
    recalls = (f"recall at {step:.0%}" for step in STEPS)
    waits = (f"delay at {step:.0%}, nights" for step in STEPS)
    rows = (ScorecardRow(ours=each[0.0].detector.ours, cells=tuple(_cells(each))) for each in examined)
    return ScorecardTable(title="Injected steps", columns=(*columns, *recalls, *waits), rows=tuple(rows))


def _cells(examined: Mapping[float, Examined]) -> Iterator[ScorecardCell]:
    counts = [count for of_step in examined.values() for count in of_step.counts]
    yield name(examined[0.0].detector.name)
    yield bootstrapped(counts, precision, two_digits)
    yield rate([(count[2], count[3]) for count in counts], 1000 * POINTS_A_WEEK, two_digits)
    for step in STEPS:
        yield bootstrapped(examined[step].counts, recall, two_digits)
    for step in STEPS:
        yield median(examined[step].delays)


def pool_table(pools: Sequence[Pool]) -> ScorecardTable:
    """The measured size of each injected step, from the complete pool."""
    rows = (
        ScorecardRow(cells=(name(pool.label), *(_measured(pool, subject) for subject in (AGAIN, *map(burned, STEPS)))))
        for pool in pools
    )
    columns = ("the same kit again", *(f"{step:.0%} slower" for step in STEPS))
    return ScorecardTable(title="The injected steps as measured", columns=("case", *columns), rows=tuple(rows))


def _measured(pool: Pool, subject: str) -> ScorecardCell:
    centre, low, high = trimmed_interval(log_ratios(pool.batches[subject]["both"], pool.batches[PLAIN]["both"]))
    return figure(float(np.expm1(centre)), float(np.expm1(low)), float(np.expm1(high)), partial(signed_words, places=2))


def sentence(examined: Sequence[Mapping[float, Examined]]) -> str:
    """Our detector for charts, and the best of the others by F1."""
    ours = next(each for each in examined if each[0.0].detector.ours)
    best = max((each for each in examined if not each[0.0].detector.ours), key=_f1_of)
    return f"{_in_words(ours)}. The best other method by F1, {_in_words(best)}."


def _f1_of(examined: Mapping[float, Examined]) -> float:
    return f1(np.sum([of_step.sums for of_step in examined.values()], axis=0))


def _in_words(examined: Mapping[float, Examined]) -> str:
    sums = np.sum([of_step.sums for of_step in examined.values()], axis=0)
    shares = ", ".join(f"{recall(examined[step].sums):.0%} of the steps of {step:.0%}" for step in STEPS)
    weeks = sums[3] / POINTS_A_WEEK
    name = examined[0.0].detector.name
    return f"{name}, finds {shares}, with {int(sums[2])} false alarms in {weeks:,.0f} series-weeks"
