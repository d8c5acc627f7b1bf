"""Upgrades of one kit to itself and to slower ones, resampled from measured invocations. As for real upgrades, some
invocations screen them and others confirm the suspected cells."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.scorecard.figures import name, share
from bench.scorecard.peers_pairs import PAIR_TESTS, PairTest
from bench.scorecard.pool import AGAIN, PLAIN, STEPS, Pool, burned
from kexbench.analysis.attribution import attribute
from kexbench.analysis.compared import CellData
from kexbench.analysis.resampling import Places, Rejections, partition, resampled
from kexbench.analysis.rounds import Batches
from kexbench.analysis.verdict import judge
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostKind
from kexbench.domain.scorecard import ScorecardCell, ScorecardRow, ScorecardTable
from kexbench.domain.upgrades import Side, UpgradeCell

SCREENED, CONFIRMED = 10, 30
"""Invocations of an ordinary run, and of a confirmation run."""
JOBS = 2
NOMINAL = (0.05, 0.01, 0.005)
SEED = 0


@dataclass(frozen=True)
class Slowed:
    """The slower part of a matrix: the cases that have a value of a dimension."""

    dimension: str
    value: str

    def has(self, case: Case) -> bool:
        return (
            self.value
            == {"protocol": case.protocol.replace("TLSv", "TLS "), "certificate key": case.key_exchange.key}[
                self.dimension
            ]
        )


FACTORS = (Slowed("certificate key", "RSA"), Slowed("protocol", "TLS 1.2"))


@dataclass(frozen=True)
class Judged:
    """The result of one upgrade: how many cells were suspected, how many were confirmed, and what explains them."""

    suspected: int
    confirmed: int
    factors: tuple[tuple[str, str], ...]
    """The dimensions and values that explain the moves, the most important first."""


def upgrades(pools: Sequence[Pool], count: int, step: float = 0.0, slowed: Slowed | None = None) -> Iterator[Judged]:
    """`count` upgrades of the pools' kit, each with random invocations: ten of each cell to screen, thirty others to
    confirm. Cases with the slowed factor cost more by `step` afterwards."""
    random = np.random.default_rng(SEED)
    for _ in range(count):
        # Which of two equal kits is the later version is random too.
        before, same = random.permutation([PLAIN, AGAIN]).tolist()
        chosen = [
            (pool, burned(step) if slowed and slowed.has(pool.case) else same, random.permutation(len(pool.keys)))
            for pool in pools
        ]
        screening = [_cell(pool, before, after, order[:SCREENED]) for pool, after, order in chosen]
        others = slice(SCREENED, SCREENED + CONFIRMED)
        yield _judged(screening, [_cell(pool, before, after, order[others]) for pool, after, order in chosen])


def _judged(screening: Sequence[CellData], confirming: Sequence[CellData]) -> Judged:
    screened = judge(screening)
    suspected = [place for place, cell in enumerate(screened) if cell.verdict == "more"]
    if not suspected:
        return Judged(0, 0, ())
    confirmed = judge([confirming[place] for place in suspected])
    decided = dict(zip(suspected, confirmed, strict=True))
    factors = attribute(screening, [decided.get(place, cell) for place, cell in enumerate(screened)])
    return Judged(len(suspected), _regressed(confirmed), tuple((factor.dimension, factor.value) for factor in factors))


def _regressed(cells: Sequence[UpgradeCell]) -> int:
    return sum(cell.verdict == "more" for cell in cells)


def _cell(pool: Pool, before: str, after: str, places: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> CellData:
    """From two jobs, the second later than the first."""
    keys = [pool.keys[place] for place in sorted(places)]
    names = {key: f"run/{JOBS * number // len(keys)}/{number}" for number, key in enumerate(keys)}
    return CellData(
        case=pool.case,
        host_kind=HostKind("local", "this"),
        before={side: _named(batches, names) for side, batches in pool.batches[before].items()},
        after={side: _named(batches, names) for side, batches in pool.batches[after].items()},
        run_ids=("run",),
        warnings=(),
        unlike=False,
    )


def _named(batches: Batches, names: Mapping[str, str]) -> Batches:
    return {new: batches[old] for old, new in names.items()}


def same_kit_table(same: Sequence[Judged]) -> ScorecardTable:
    rows = (("suspected after screening", _suspected(same)), ("alerted after confirmation", _alerted(same)))
    return ScorecardTable(
        title="One kit under two names",
        columns=("upgrades", "share, with Wilson's interval"),
        rows=tuple(ScorecardRow(ours=True, cells=(name(text), share(count, len(same)))) for text, count in rows),
    )


def slowed_table(upgraded: Mapping[tuple[Slowed, float], Sequence[Judged]]) -> ScorecardTable:
    rows = (
        ScorecardRow(
            ours=True,
            cells=(
                name(f"{slowed.dimension} {slowed.value}, {step:.0%} slower"),
                share(_suspected(several), len(several)),
                share(_alerted(several), len(several)),
                _naming(several, slowed),
            ),
        )
        for (slowed, step), several in upgraded.items()
    )
    return ScorecardTable(
        title="One factor slower",
        columns=("slower cases", "suspected", "alerted", "alerts that name the factor first"),
        rows=tuple(rows),
    )


def _naming(upgraded: Collection[Judged], slowed: Slowed) -> ScorecardCell:
    alerted = [each for each in upgraded if each.confirmed]
    return share(sum(each.factors[:1] == ((slowed.dimension, slowed.value),) for each in alerted), len(alerted))


def false_positives(test: PairTest, pools: Sequence[Pool], partitions: int, *, apart: bool) -> list[list[Rejections]]:
    """For each pool and nominal level, how often the test reports a change of a kit from itself in ten invocations of
    each: the same invocations, interleaved, or different ones if `apart`."""
    return [list(_of_pool(test, pool, partitions, apart=apart)) for pool in pools]


def _of_pool(test: PairTest, pool: Pool, partitions: int, *, apart: bool) -> Iterator[Rejections]:
    group = 2 * SCREENED if apart else SCREENED
    drawn: Places = partition(len(pool.keys), group, partitions, np.random.default_rng(SEED))
    pairs = (_two(pool, [pool.keys[place] for place in places], apart=apart) for places in drawn)
    chances = np.array([test.chance(*pair) for pair in pairs])
    for nominal in NOMINAL:
        yield resampled(drawn, chances < nominal, len(pool.keys))


def _two(pool: Pool, keys: Sequence[str], *, apart: bool) -> tuple[Batches, Batches]:
    side: Side = "both"
    before, after = (keys[:SCREENED], keys[SCREENED:]) if apart else (keys, keys)
    return (
        {key: pool.batches[PLAIN][side][key] for key in before},
        {key: pool.batches[AGAIN][side][key] for key in after},
    )


def false_positives_table(pools: Sequence[Pool], partitions: int) -> ScorecardTable:
    columns = [f"{how}, nominal {nominal:.1%}" for how in ("interleaved", "not interleaved") for nominal in NOMINAL]
    rows = (
        ScorecardRow(
            ours=test.ours,
            cells=(
                name(test.name),
                *_pooled(false_positives(test, pools, partitions, apart=False)),
                *_pooled(false_positives(test, pools, partitions, apart=True)),
            ),
        )
        for test in PAIR_TESTS
    )
    return ScorecardTable(title="False alarms of one cell", columns=("test", *columns), rows=tuple(rows))


def _pooled(of_pools: Sequence[Sequence[Rejections]]) -> Iterator[ScorecardCell]:
    for several in zip(*of_pools, strict=True):
        rejected, tests = sum(each.rejected for each in several), sum(each.tests for each in several)
        yield share(rejected, tests, sum(each.effective_tests for each in several))


def sentence(same: Sequence[Judged], slowed: Mapping[tuple[Slowed, float], Sequence[Judged]]) -> str:
    """False alarms, and alerts for the smallest slowdown."""
    raised = ", ".join(
        f"{_alerted(several)} of {len(several)} if {slowed.dimension} {slowed.value} is {step:.0%} slower"
        for (slowed, step), several in slowed.items()
        if step == min(STEPS)
    )
    return (
        f"Of {len(same)} upgrades of a kit to itself, {_suspected(same)} were suspected and {_alerted(same)} alerted. "
        f"Alerts were raised in {raised}."
    )


def _suspected(upgraded: Sequence[Judged]) -> int:
    return sum(each.suspected > 0 for each in upgraded)


def _alerted(upgraded: Sequence[Judged]) -> int:
    return sum(each.confirmed > 0 for each in upgraded)
