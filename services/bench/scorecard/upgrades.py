"""Upgrades of one kit to itself and to slower ones, resampled from measured invocations and judged as real ones are:
screened, and what looks like a regression confirmed by other invocations."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.scorecard.figures import name, share
from bench.scorecard.peers_pairs import PAIR_TESTS, PairTest
from bench.scorecard.pool import AGAIN, PLAIN, STEPS, Pool, burned
from kexbench.analysis.attribution import attribute
from kexbench.analysis.resampling import Places, Rejections, partition, resampled
from kexbench.analysis.rounds import Batches
from kexbench.analysis.verdict import CellData, judge
from kexbench.domain.cases import Case
from kexbench.domain.scorecard import ScorecardCell, ScorecardRow, ScorecardTable
from kexbench.domain.upgrades import Side, UpgradeCell

SCREENED, CONFIRMED = 10, 30
"""Invocations of an ordinary run, and of one that has to confirm a suspicion."""
JOBS = 2
NOMINAL = (0.05, 0.01, 0.005)
SEED = 0


@dataclass(frozen=True)
class Slowed:
    """What is burned of a matrix: the cases that have a value of a dimension."""

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
    """What became of one upgrade: how many cells were suspected, how many of them confirmed, what explains them."""

    suspected: int
    confirmed: int
    factors: tuple[tuple[str, str], ...]
    """The dimensions and values that explain the moves, the first most."""


def upgrades(pools: Sequence[Pool], count: int, step: float = 0.0, slowed: Slowed | None = None) -> Iterator[Judged]:
    """So many upgrades of the pools' kit, each of invocations of its own at random: ten of each cell to screen, and
    thirty others to confirm. What has the slowed factor costs so much more after it."""
    random = np.random.default_rng(SEED)
    for _ in range(count):
        # Which of two equal ones is the later version is chance too.
        before, same = random.permutation([PLAIN, AGAIN]).tolist()
        chosen = [
            (pool, burned(step) if slowed and slowed.has(pool.case) else same, random.permutation(len(pool.keys)))
            for pool in pools
        ]
        screening = [_cell(pool, before, after, order[:SCREENED]) for pool, after, order in chosen]
        others = slice(SCREENED, SCREENED + CONFIRMED)
        yield _judged(screening, [_cell(pool, before, after, order[others]) for pool, after, order in chosen])


def _judged(screening: Sequence[CellData], confirming: Sequence[CellData]) -> Judged:
    found = judge(screening)
    suspected = [place for place, cell in enumerate(found) if cell.verdict == "more"]
    if not suspected:
        return Judged(0, 0, ())
    confirmed = judge([confirming[place] for place in suspected])
    known = dict(zip(suspected, confirmed, strict=True))
    factors = attribute(screening, [known.get(place, cell) for place, cell in enumerate(found)])
    return Judged(len(suspected), _regressed(confirmed), tuple((factor.dimension, factor.value) for factor in factors))


def _regressed(cells: Sequence[UpgradeCell]) -> int:
    return sum(cell.verdict == "more" for cell in cells)


def _cell(pool: Pool, before: str, after: str, places: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> CellData:
    """Of two jobs, the second later than the first."""
    keys = [pool.keys[place] for place in sorted(places)]
    names = {key: f"run/{JOBS * number // len(keys)}/{number}" for number, key in enumerate(keys)}
    return CellData(
        case=pool.case,
        pool="local",
        cpu_model="this",
        before={side: _named(batches, names) for side, batches in pool.batches[before].items()},
        after={side: _named(batches, names) for side, batches in pool.batches[after].items()},
        run_ids=("run",),
        warnings=(),
        unlike=False,
    )


def _named(batches: Batches, names: Mapping[str, str]) -> Batches:
    return {new: batches[old] for old, new in names.items()}


def same_kit_table(found: Sequence[Judged]) -> ScorecardTable:
    rows = (
        ("with a suspicion after screening", sum(one.suspected > 0 for one in found)),
        ("with an alert after confirmation", sum(one.confirmed > 0 for one in found)),
    )
    return ScorecardTable(
        title="One kit under two names",
        columns=("upgrades", "how many, with Wilson's interval"),
        rows=tuple(ScorecardRow(ours=True, cells=(name(text), share(count, len(found)))) for text, count in rows),
    )


def slowed_table(found: Mapping[tuple[Slowed, float], Sequence[Judged]]) -> ScorecardTable:
    rows = (
        ScorecardRow(
            ours=True,
            cells=(
                name(f"{slowed.dimension} {slowed.value}, {step:.0%} slower"),
                share(sum(one.suspected > 0 for one in several), len(several)),
                share(sum(one.confirmed > 0 for one in several), len(several)),
                _naming(several, slowed),
            ),
        )
        for (slowed, step), several in found.items()
    )
    return ScorecardTable(
        title="One factor slower",
        columns=("what is slower", "a suspicion", "an alert", "of the alerts, name the factor first"),
        rows=tuple(rows),
    )


def _naming(found: Collection[Judged], slowed: Slowed) -> ScorecardCell:
    raised = [one for one in found if one.confirmed]
    return share(sum(one.factors[:1] == ((slowed.dimension, slowed.value),) for one in raised), len(raised))


def false_positives(test: PairTest, pools: Sequence[Pool], partitions: int, *, apart: bool) -> list[list[Rejections]]:
    """Of each pool and nominal level how often the test tells a kit from itself in ten invocations of each: the same
    ones, interleaved, or other ones."""
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
    return ScorecardTable(title="False positives of one cell", columns=("test", *columns), rows=tuple(rows))


def _pooled(found: Sequence[Sequence[Rejections]]) -> Iterator[ScorecardCell]:
    for several in zip(*found, strict=True):
        rejected, tests = sum(one.rejected for one in several), sum(one.tests for one in several)
        yield share(rejected, tests, sum(one.effective_tests for one in several))


def sentence(same: Sequence[Judged], slowed: Mapping[tuple[Slowed, float], Sequence[Judged]]) -> str:
    """False alerts, and alerts of what is slower by the least."""
    raised = ", ".join(
        f"{_alerted(several)} of {len(several)} where {slowed.dimension} {slowed.value} costs {step:.0%} more"
        for (slowed, step), several in slowed.items()
        if step == min(STEPS)
    )
    suspected = sum(one.suspected > 0 for one in same)
    return (
        f"{len(same)} upgrades of a kit to itself: {suspected} suspected, {_alerted(same)} alerted; "
        f"alerts were raised in {raised}."
    )


def _alerted(found: Sequence[Judged]) -> int:
    return sum(one.confirmed > 0 for one in found)
