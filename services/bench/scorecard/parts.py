"""The parts of the scorecard: each measures and returns its texts and tables."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from bench import comparison
from bench.machine import Machine, all_cpus
from bench.planted import SOURCES
from bench.scorecard import genuine, histories, live, steps, upgrades, verdicts
from bench.scorecard.detectors import DETECTORS
from bench.scorecard.pool import CASES, QUICK_CASES, STEPS, Pool, measure_pools
from bench.scorecard.texts import (
    COMPARISON,
    COMPARISON_TITLES,
    GENUINE,
    HISTORIES,
    LIVE,
    STEPS_ABOUT,
    UPGRADES,
    VERDICTS,
)
from kexbench.domain.cases import Case
from kexbench.domain.kits import Library
from kexbench.domain.plans import BATCHES
from kexbench.domain.scorecard import ScorecardCell, ScorecardRow, ScorecardTable


@dataclass(frozen=True)
class Scale:
    """How much is measured: in full, or quickly."""

    series: int | None
    """About how many series of each set of labelled histories; None for all."""
    delays: int
    cases: Mapping[Library, Sequence[Case]]
    invocations: int
    """For each case of the pool."""
    each: int
    """Nightly series for each case and step."""
    upgrades: int
    slowed: int
    """Upgrades to each slower kit."""
    partitions: int
    commits: int
    """Simulated commits for each noise."""
    fewer: int
    """Divisor of the draws of a comparison's tables."""


FULL = Scale(
    series=None,
    delays=60,
    cases=CASES,
    invocations=60,
    each=10,
    upgrades=200,
    slowed=100,
    partitions=25,
    commits=1000,
    fewer=1,
)
QUICK = Scale(
    series=12,
    delays=6,
    cases=QUICK_CASES,
    invocations=44,
    each=3,
    upgrades=40,
    slowed=10,
    partitions=3,
    commits=100,
    fewer=10,
)


@dataclass(frozen=True)
class Found:
    about: str = ""
    sentence: str = ""
    tables: tuple[ScorecardTable, ...] = ()
    failure: str | None = None


@dataclass
class Bench:
    """What the parts share: how much they measure, and the pool, which is measured once."""

    scale: Scale
    live: int
    say: Callable[[str], None]

    @cached_property
    def machine(self) -> Machine:
        return Machine()

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """Raises BenchError and KitError."""
        cases = sum(map(len, self.scale.cases.values()))
        for progress in measure_pools(self.machine, self.scale.cases, self.scale.invocations):
            if isinstance(progress, tuple):
                return progress
            if progress % 10 == 0:
                self.say(f"pool: {progress} of {self.scale.invocations} invocations of each of {cases} cases")
        raise AssertionError("measure_pools yields the pools last")


def measure_histories(bench: Bench) -> Found:
    sets = histories.sets()
    if bench.scale.series is not None:
        sets = {name: histories.thinned(several, bench.scale.series) for name, several in sets.items()}
    examined: dict[str, list[histories.Examined]] = {name: [] for name in sets}
    taken = []
    for detector in DETECTORS:
        bench.say(f"histories: {detector.name}")
        caching = replace(detector, detect=cache(detector.detect))  # sets share series
        for name, several in sets.items():
            examined[name].append(histories.examine(caching, several, bench.scale.delays))
        # All detectors each time, because the machine may be slow for a minute.
        taken.append(histories.cpu_seconds(DETECTORS))
    order = ("all", *(name for name in sets if name != "all"))
    about = HISTORIES.format(
        sizes=", ".join(histories.size(name, several) for name, several in sets.items()),
        delays=bench.scale.delays,
        seed=0,
        cpu_series=histories.CPU_SERIES,
        cpu_times=len(taken) * histories.CPU_TIMES,
    )
    tables = [histories.table(histories.TITLES[name], examined[name]) for name in order]
    least = np.min(taken, axis=0).tolist()
    seconds = {detector.name: own for detector, own in zip(DETECTORS, least, strict=True)}
    cpu = histories.cpu_table(seconds, [detector.name for detector in DETECTORS if detector.ours])
    return Found(about, histories.sentence(examined), (*tables, cpu))


def measure_steps(bench: Bench) -> Found:
    pools, scale = bench.pools, bench.scale
    series = steps.series_of(pools, scale.each)
    examined = []
    for detector in DETECTORS:
        bench.say(f"steps: {detector.name}")
        examined.append(steps.examine_steps(detector, series, scale.delays))
    about = STEPS_ABOUT.format(
        invocations=scale.invocations,
        cases=len(pools),
        batches=BATCHES,
        subjects=len(pools[0].batches),
        labels="; ".join(pool.label for pool in pools),
        each=scale.each,
        nights=steps.NIGHTS,
        edge=steps.EDGE,
        seed=steps.SEED,
        delays=min(scale.delays, len(pools) * scale.each),
    )
    return Found(about, steps.sentence(examined), (steps.pool_table(pools), steps.table(examined)))


def measure_upgrades(bench: Bench) -> Found:
    openssl = [pool for pool in bench.pools if pool.library == "openssl"]
    scale = bench.scale
    bench.say(f"upgrades: {scale.upgrades} upgrades of a kit to itself")
    same = list(upgrades.upgrades(openssl, scale.upgrades))
    slowed = {}
    for factor in upgrades.FACTORS:
        for step in STEPS:
            bench.say(f"upgrades: {factor.dimension} {factor.value}, {step:.0%} slower")
            slowed[factor, step] = list(upgrades.upgrades(openssl, scale.slowed, step, factor))
    bench.say("upgrades: tests of two versions")
    tables = (
        upgrades.same_kit_table(same),
        upgrades.slowed_table(slowed),
        upgrades.false_positives_table(bench.pools, scale.partitions),
    )
    about = UPGRADES.format(
        cases=len(openssl), count=scale.upgrades, slowed=scale.slowed, seed=upgrades.SEED, partitions=scale.partitions
    )
    return Found(about, upgrades.sentence(same, slowed), tables)


def measure_verdicts(bench: Bench) -> Found:
    unchanged, tables = verdicts.verdict_tables(bench.scale.commits, bench.say)
    about = VERDICTS.format(
        commits=bench.scale.commits,
        cells=verdicts.CELLS,
        invocations=verdicts.INVOCATIONS,
        jobs=verdicts.JOBS,
        seed=verdicts.SEED,
    )
    return Found(about, verdicts.sentence(unchanged), tables)


def measure_comparison(bench: Bench) -> Found:
    tables = []
    for part, (make, scale) in comparison.PARTS.items():
        bench.say(f"comparison: {part}")
        tables.append(_comparison_table(part, *make(max(1, scale // bench.scale.fewer))))
    return Found(COMPARISON, "", tuple(tables))


def _comparison_table(part: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> ScorecardTable:
    """The columns that name a row become one."""
    names = comparison.NAMED_BY[part]
    shown = (
        ScorecardRow(
            ours=True, cells=tuple(ScorecardCell(text=text) for text in (", ".join(row[:names]), *row[names:]))
        )
        for row in rows
    )
    columns = (", ".join(header[:names]), *header[names:])
    return ScorecardTable(title=COMPARISON_TITLES[part], columns=columns, rows=tuple(shown))


def measure_live(bench: Bench) -> Found:
    with _all_cpus(bench):
        measured = live.measure(bench.live, bench.say)
    about = LIVE.format(source=SOURCES.source.removeprefix("crate/"), invocations=live.CONFIRMED)
    return Found(about, live.sentence(measured), (live.table(measured),))


def measure_genuine(bench: Bench) -> Found:
    with _all_cpus(bench):
        measured = genuine.measure(bench.say)
    about = GENUINE.format(source=SOURCES.source.removeprefix("crate/"), before=genuine.BEFORE, after=genuine.AFTER)
    return Found(about, genuine.sentence(measured), (genuine.table(measured),))


def _all_cpus(bench: Bench) -> AbstractContextManager[None]:
    """For a separate service, if the machine's object moved this process off a CPU."""
    return all_cpus(bench.machine.cpus) if "machine" in vars(bench) else nullcontext()


PARTS: dict[str, tuple[str, Callable[[Bench], Found]]] = {
    "histories": ("Change points in labelled histories", measure_histories),
    "steps": ("Slowdowns in a series of nights", measure_steps),
    "upgrades": ("Upgrades", measure_upgrades),
    "verdicts": ("Red commits", measure_verdicts),
    "comparison": ("Accuracy of a comparison", measure_comparison),
    "live": ("Upgrades between builds of one source", measure_live),
    "genuine": ("Upgrades to something slower", measure_genuine),
}
BUILDING = ("live", "genuine")
"""The parts that build a library from its sources."""
