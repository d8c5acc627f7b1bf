"""Steps in real data: nightly series out of measured invocations, into which measured slower ones are put."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bench.changepoint_score import Label, LabelledSeries
from bench.scorecard.detectors import Detector
from bench.scorecard.figures import bootstrapped, figure, median, name, rate, two_digits
from bench.scorecard.histories import POINTS_A_WEEK, Examined, examine, f1, precision, recall
from bench.scorecard.pool import AGAIN, PLAIN, STEPS, Pool, burned
from kexbench.analysis.estimates import trimmed_interval
from kexbench.analysis.rounds import Vector, log_ratios
from kexbench.domain.scorecard import ScorecardCell, ScorecardRow, ScorecardTable

NIGHTS, EDGE = 90, 15
"""Of a series; and how far from both ends a step is at least."""
A_NIGHT = 10
"""Invocations, as a run has."""
SEED = 0


def series_of(pools: Sequence[Pool], each: int) -> dict[float, list[LabelledSeries]]:
    """So many series of each pool and step, 0 being none, with the step at a random place."""
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
    """So many nights: each is the median over ten invocations that were measured one after the other, so that what the
    machine does to neighbours stays in it, from anywhere in the pool."""
    starts = random.integers(len(invocations) - A_NIGHT + 1, size=count)
    return tuple(float(np.median(invocations[start : start + A_NIGHT])) for start in starts)


def examine_steps(
    detector: Detector, series: Mapping[float, Sequence[LabelledSeries]], delays_of: int
) -> dict[float, Examined]:
    """Delays of the first so many series of each step, in an order of their own, so that every pool is among them."""
    found = {}
    for step, several in series.items():
        shuffled = [several[place] for place in np.random.default_rng(SEED).permutation(len(several))]
        found[step] = examine(detector, shuffled, delays_of)
    return found


def table(examined: Sequence[Mapping[float, Examined]]) -> ScorecardTable:
    columns = ("method", "precision", "false alarms per 1,000 series-weeks")
    found = (f"finds {step:.0%}" for step in STEPS)
    waits = (f"delay at {step:.0%}, nights" for step in STEPS)
    rows = (ScorecardRow(ours=one[0.0].detector.ours, cells=tuple(_cells(one))) for one in examined)
    return ScorecardTable(title="Injected steps", columns=(*columns, *found, *waits), rows=tuple(rows))


def _cells(examined: Mapping[float, Examined]) -> Iterator[ScorecardCell]:
    counts = [count for one in examined.values() for count in one.counts]
    yield name(examined[0.0].detector.name)
    yield bootstrapped(counts, precision, two_digits)
    yield rate([(count[2], count[3]) for count in counts], 1000 * POINTS_A_WEEK, two_digits)
    for step in STEPS:
        yield bootstrapped(examined[step].counts, recall, two_digits)
    for step in STEPS:
        yield median(examined[step].delays)


def pool_table(pools: Sequence[Pool]) -> ScorecardTable:
    """What the whole pool measures of each injection, so that steps are known to be what they are said to be."""
    rows = (
        ScorecardRow(cells=(name(pool.label), *(_measured(pool, subject) for subject in (AGAIN, *map(burned, STEPS)))))
        for pool in pools
    )
    columns = ("the same kit again", *(f"{step:.0%} slower" for step in STEPS))
    return ScorecardTable(title="The injected steps as measured", columns=("case", *columns), rows=tuple(rows))


def _measured(pool: Pool, subject: str) -> ScorecardCell:
    centre, low, high = trimmed_interval(log_ratios(pool.batches[subject]["both"], pool.batches[PLAIN]["both"]))
    return figure(float(np.expm1(centre)), float(np.expm1(low)), float(np.expm1(high)), "{:+.2%}".format)


def sentence(examined: Sequence[Mapping[float, Examined]]) -> str:
    """What ours that charts show finds, and the best of the others by F1."""
    ours = next(one for one in examined if one[0.0].detector.ours)
    best = max((one for one in examined if not one[0.0].detector.ours), key=_f1_of)
    return f"{_in_words(ours)}; the best of the others by F1, {_in_words(best)}."


def _f1_of(examined: Mapping[float, Examined]) -> float:
    return f1(np.sum([one.sums for one in examined.values()], axis=0))


def _in_words(examined: Mapping[float, Examined]) -> str:
    sums = np.sum([one.sums for one in examined.values()], axis=0)
    found = ", ".join(f"{recall(examined[step].sums):.0%} of the steps of {step:.0%}" for step in STEPS)
    weeks = sums[3] / POINTS_A_WEEK
    name = examined[0.0].detector.name
    return f"{name}, finds {found}, with {int(sums[2])} false alarms in {weeks:,.0f} series-weeks"
