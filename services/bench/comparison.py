"""`python -m bench.comparison [--quick] [--only PART]`: what the comparison of two versions is worth, as tables.

False positives on stored measurements of one thing (data/README.md), the coverage of intervals on simulated noise, and
how many regressed cells of a matrix are found. Seeded: the same figures every time.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.tables import markdown_table
from kexbench.analysis.discovery import FALSE_DISCOVERIES, false_discovery_rates
from kexbench.analysis.lists import compare_lists
from kexbench.analysis.moderation import moderate
from kexbench.analysis.moves import OUTLYING, LogMove, Pair, Sample, moderated, moves
from kexbench.analysis.resampling import wilson
from kexbench.analysis.rounds import Vector, by_round
from kexbench.analysis.verdict import CellData, judge
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.upgrades import UpgradeCell

DATA = Path(__file__).parent / "data" / "tls_aa.jsonl.gz"
CASE = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
CELLS, REGRESSED, NOISY, BATCHES = 40, 2, 4, 10
POWER_ROWS = ((3, 0.05, 0.89), (5, 0.05, 0.97), (10, 0.02, 0.71), (20, 0.02, 0.93))
"""Invocations, step, and the power that STATISTICS asks for."""
Invocations = list[list[float]]
Pool = list[tuple[list[float], list[float]]]
Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Table = tuple[tuple[str, ...], list[list[str]]]
"""Its header and its rows."""


@cache
def stored(kind: str, clock: int) -> Invocations:
    """The batches of every stored invocation; clock 0 is wall time, 1 CPU time."""
    with gzip.open(DATA, "rt") as lines:
        return [row["v"][clock] for row in map(json.loads, lines) if row["kind"] == kind]


def interleaved(pool: Invocations) -> Pool:
    """Of each invocation the odd batches beside the even ones: two subjects that take turns."""
    return [(values[0::2], values[1::2]) for values in pool]


def neighbours(pool: Invocations) -> Pool:
    return list(zip(pool[0::2], pool[1::2], strict=True))


def groups(pool: Pool, size: int, random: np.random.Generator) -> Iterator[tuple[Invocations, Invocations]]:
    """Disjoint groups of a pool, in pairs."""
    order = random.permutation(len(pool))
    for first in range(0, len(pool) - size + 1, size):
        drawn = [pool[place] for place in order[first : first + size]]
        swaps = random.random(size) < 0.5
        turned = [(b, a) if swap else (a, b) for (a, b), swap in zip(drawn, swaps, strict=True)]
        yield [a for a, _ in turned], [b for _, b in turned]


def apart(pool: Invocations, size: int, random: np.random.Generator) -> Iterator[tuple[Invocations, Invocations]]:
    """Disjoint groups of invocations, half of them against the other half."""
    order = random.permutation(len(pool))
    for first in range(0, len(pool) - 2 * size + 1, 2 * size):
        drawn = [pool[place] for place in order[first : first + 2 * size]]
        yield drawn[:size], drawn[size:]


def in_turn(pool: Invocations, size: int, _: np.random.Generator) -> Iterator[tuple[Invocations, Invocations]]:
    """Every block of invocations against the next one, both ways round: whatever drifts lies between them."""
    for first in range(len(pool) - 2 * size + 1):
        blocks = pool[first : first + size], pool[first + size : first + 2 * size]
        yield from (blocks, blocks[::-1])


def to_sentinel(pool: Invocations) -> Invocations:
    """The odd batches as ratios to the even ones, as if these were of the sentinel that is measured along."""
    return [np.exp(by_round(own, frozen)).tolist() for own, frozen in interleaved(pool)]


Cut = Callable[[int, np.random.Generator], Iterator[tuple[Invocations, Invocations]]]
"""Pairs of lists of so many invocations, out of a pool."""


class Way(NamedTuple):
    paired: bool
    cut: Callable[[Invocations], Cut]
    """Of a pool."""
    at_random: bool = True
    """And so many times over; else all there is."""


WAYS = {
    "interleaved: odd and even batches": Way(True, lambda pool: partial(groups, interleaved(pool))),
    "neighbouring invocations as pairs": Way(True, lambda pool: partial(groups, neighbours(pool))),
    "not interleaved": Way(False, lambda pool: partial(apart, pool)),
    "one block after the other": Way(False, lambda pool: partial(in_turn, pool), at_random=False),
    "one block after the other, relative to a sentinel": Way(
        False, lambda pool: partial(in_turn, to_sentinel(pool)), at_random=False
    ),
}
SIZES = (3, 5, 10, 20)


def drawn(way: str, clock: int, size: int, scale: int) -> list[tuple[Invocations, Invocations]]:
    """Pairs of lists of one thing, each pool cut so many times at random."""
    random = np.random.default_rng(size)
    cuts = [WAYS[way].cut(stored(kind, clock)) for kind in ("ecdsa", "rsa")]
    return [one for _ in range(scale if WAYS[way].at_random else 1) for cut in cuts for one in cut(size, random)]


def false_positives(scale: int) -> Table:
    """How often one thing looks like a regression of itself, by `analyze compare`."""
    rows = []
    for (name, way), (clock, clock_name), size in product(WAYS.items(), enumerate(("wall", "CPU")), SIZES):
        lists = drawn(name, clock, size, scale)
        usual = [both for both in lists if compare_lists(*both, way.paired, strict=False).regression]
        strict = [both for both in usual if compare_lists(*both, way.paired, strict=True).regression]
        shares = (f"{len(found) / len(lists):.2%}" for found in (usual, strict))
        rows.append([name, clock_name, str(size), f"{len(lists):,}", *shares])
    return ("pairs", "clock", "invocations", "tests", "regression (0.5%)", "strict (0.05%)"), rows


def drift(scale: int) -> Table:
    """By how much two lists that are not interleaved differ more than their own scatter tells: the root mean square of
    the difference of their means over that of its standard error, 1 where nothing drifts."""
    rows = []
    unpaired = [name for name, way in WAYS.items() if not way.paired]
    for name, (clock, clock_name) in product(unpaired, enumerate(("wall", "CPU"))):
        factors = []
        for size in SIZES:
            # A pair of lists, which of the two, invocations.
            lists = drawn(name, clock, size, scale)
            logs = np.array([[[np.log(np.median(values)) for values in one] for one in both] for both in lists])
            apart = logs[:, 0].mean(axis=1) - logs[:, 1].mean(axis=1)
            errors = logs.var(axis=2, ddof=1).sum(axis=1) / size
            factors.append(f"{np.sqrt((apart**2).mean() / errors.mean()):.1f}")
        rows.append([name, clock_name, *factors])
    return ("lists", "clock", *(f"{size} invocations" for size in SIZES)), rows


def upgrade_of(cells: Sequence[tuple[Pool, str]], *, paired: bool = True, jobs: int = 2) -> tuple[UpgradeCell, ...]:
    """Judge a matrix of cells, each a list of what both versions' invocations measured and its clock."""
    made = []
    for pool, clock in cells:
        keys = [f"run/{number % jobs}/{number}" for number in range(len(pool))]
        other = keys if paired else [f"other{key}" for key in keys]
        before = {"both": {key: a for key, (a, _) in zip(keys, pool, strict=True)}}
        after = {"both": {key: b for key, (_, b) in zip(other, pool, strict=True)}}
        made.append(CellData(CASE, "pool", clock, before, after, ("run",), (), False))  # type: ignore[arg-type]
    return judge(made)


def upgrades_without_change(scale: int) -> Table:
    """Matrices of stored invocations, each cell one thing under two names."""
    rows = []
    random = np.random.default_rng(1)
    pools = {(kind, clock): stored(kind, clock) for kind in ("ecdsa", "rsa") for clock in (0, 1)}
    for name, paired, pairs, size in (
        ("interleaved, 5 invocations", True, interleaved, 5),
        ("interleaved, 10 invocations", True, interleaved, 10),
        ("neighbours, 5 invocations", True, neighbours, 5),
        ("not interleaved, 5 invocations", False, _drawn_apart(random), 5),
    ):
        judged = []
        for _ in range(scale):
            cells = [
                (list(zip(a, b, strict=True)), str(clock))
                for (_, clock), pool in pools.items()
                for a, b in groups(pairs(pool), size, random)
            ]
            judged.append(upgrade_of(cells, paired=paired))
        moved = [sum(cell.verdict in ("more", "less") for cell in upgrade) for upgrade in judged]
        sure = [sum((cell.q or 0) <= FALSE_DISCOVERIES for cell in upgrade) for upgrade in judged]
        rows.append([name, str(len(judged[0])), str(scale), *(_count(found, scale) for found in (sure, moved))])
    header = ("matrix", "cells", "upgrades", "with a cell of q <= 0.05", "with one that is called moved")
    return header, rows


def _drawn_apart(random: np.random.Generator) -> Callable[[Invocations], Pool]:
    def pairs(pool: Invocations) -> Pool:
        order = random.permutation(len(pool)).tolist()
        return [(pool[a], pool[b]) for a, b in zip(order[0::2], order[1::2], strict=True)]

    return pairs


def _count(found: Sequence[int], tests: int) -> str:
    share = sum(number > 0 for number in found) / tests
    low, high = wilson(share, tests)
    return f"{share:.1%} ({low:.1%} to {high:.1%})"


Noise = Callable[[np.random.Generator, tuple[int, ...]], Matrix]
NOISES: dict[str, Noise] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "heavy tails (t, 4 degrees)": lambda random, shape: random.standard_t(4, shape),
    "one wild in ten (6 x)": lambda random, shape: (
        random.standard_normal(shape) * np.where(random.random(shape) < 0.1, 6, 1)
    ),
}


LISTS = ((3,), (5,), (10,), (30,), (3, 3), (5, 5), (10, 10), (30, 30), (3, 10), (5, 10), (10, 30))
"""How many invocations: paired log ratios, or the log medians of either list where they are not paired."""

MATRICES = {1: 200, 8: 5, 40: 1}
"""Cells, and how often such a matrix is drawn."""


def coverage(scale: int) -> Table:
    """How often the 95% interval of a cell holds the truth, in matrices of one, eight and forty cells."""
    rows = [[name, *_coverage(noise, sizes, (1, 1), scale)] for (name, noise), sizes in product(NOISES.items(), LISTS)]
    rows += [
        ["normal, the first list 3 x as noisy", *_coverage(NOISES["normal"], sizes, (3, 1), scale)]
        for sizes in LISTS
        if len(sizes) == 2
    ]
    return ("noise", "lists", "invocations", "1 cell", "8 cells", "40 cells"), rows


def _coverage(noise: Noise, sizes: tuple[int, ...], times: tuple[int, int], scale: int) -> list[str]:
    paired, shares = len(sizes) == 1, []
    for cells, times_drawn in MATRICES.items():
        random = np.random.default_rng((cells, *sizes))
        missed = []
        for _ in range(scale * times_drawn):
            drawn = [noise(random, (cells, size)) * by for size, by in zip(sizes, times, strict=False)]
            samples = [[Sample(logs, ("",) * len(logs), trimmed=paired) for logs in one] for one in drawn]
            pairs = {place: Pair(both) for place, both in enumerate(zip(*samples, strict=True))}
            missed += [not _holds(move) for move in moves(pairs, dict.fromkeys(pairs)).values()]
        shares.append(f"{1 - np.mean(missed):.1%}")
    return ["paired" if paired else "not paired", " and ".join(map(str, sizes)), *shares]


def _holds(move: LogMove) -> bool:
    """Whether its interval holds the truth, which is no move at all."""
    low, high = move.bounds()
    return low <= 0 <= high


def noisy_cells(scale: int) -> Table:
    """How often 95% intervals of the noisier cells of a matrix hold the truth, and of all cells where no cell but some
    values are wild: as they are, and if every cell were cut at what the noise of all allows."""
    rows = []
    for name, times, noise in (
        ("normal, four cells twice as noisy", 2, NOISES["normal"]),
        ("normal, four cells three times as noisy", 3, NOISES["normal"]),
        ("one wild in ten (6 x), no cell noisier", 1, NOISES["one wild in ten (6 x)"]),
    ):
        for size in (3, 5, 10):
            random = np.random.default_rng(size)
            normal = _usual_distance(random.standard_normal((20_000, size)))
            missed = []
            for _ in range(scale):
                logs = noise(random, (CELLS, size))
                logs[:NOISY] *= times
                samples = [Sample(one, ("",) * size, trimmed=True) for one in logs]
                told = NOISY if times > 1 else CELLS
                both = zip(moderated(samples)[:told], _cut_alike(samples, normal)[:told], strict=True)
                missed += [[not _holds(move) for move in one] for one in both]
            rows.append([name, str(size), *(f"{share:.1%}" for share in 1 - np.mean(missed, axis=0))])
    return ("noise", "invocations", "as they are", "cut at the common noise"), rows


def _cut_alike(samples: Sequence[Sample], normal: float) -> list[LogMove]:
    """Cells whose outliers are drawn in to 2.5 standard deviations of the usual cell, however noisy they are. `normal`
    is the usual distance of normal noise of one standard deviation."""
    reach = OUTLYING * _usual_distance(np.array([sample.logs for sample in samples])) / normal
    kept = float(np.mean([sample.within(reach) for sample in samples]))
    cut = [sample.cut_at(reach, kept) for sample in samples]
    noise = moderate(np.array([one.variance for one in cut]), np.array([one.freedom for one in cut]))
    errors = np.sqrt(noise.variances / len(samples[0].logs))
    return [
        LogMove(one.centre, float(error), float(freedom), float(freedom))
        for one, error, freedom in zip(cut, errors, noise.freedoms, strict=True)
    ]


def _usual_distance(logs: Matrix) -> float:
    """From the median of its cell, of all values but that median itself."""
    distances = np.sort(np.abs(logs - np.median(logs, axis=1, keepdims=True)), axis=1)
    return float(np.median(distances[:, logs.shape[1] % 2 :]))


def power(scale: int) -> Table:
    """How many regressed cells of a matrix are found. An invocation is drawn from the stored ones, CPU time, its first
    20 batches taken as ten rounds of two interleaved subjects; of one of them every batch is slower by the step."""
    pool = [pair for kind in ("ecdsa", "rsa") for pair in interleaved(stored(kind, 1))]
    rows = []
    for (size, step, asked), jobs in product(POWER_ROWS, (1, 2)):
        random = np.random.default_rng(size)
        plain, sure, told = 0, 0, 0
        wrong, moved = [], []
        for _ in range(scale):
            cells = [(_draw(pool, size, step * (place < REGRESSED), random), "") for place in range(CELLS)]
            judged = upgrade_of(cells, jobs=jobs)
            plain += sum(_plain_rates([pairs for pairs, _ in cells])[:REGRESSED] <= FALSE_DISCOVERIES)
            discovered = [(cell.q or 0) <= FALSE_DISCOVERIES for cell in judged]
            called = [cell.verdict in ("more", "less") for cell in judged]
            sure += sum(discovered[:REGRESSED])
            told += sum(cell.verdict == "more" for cell in judged[:REGRESSED])
            wrong.append(_false_share(discovered))
            moved.append(_false_share(called))
        tests = scale * REGRESSED
        false = f"{np.mean(wrong):.1%}", f"{np.mean(moved):.1%}"
        rows.append(
            [
                f"{size} x {BATCHES}",
                f"{step:.0%}",
                str(jobs),
                f"{asked:.2f}",
                *(f"{found / tests:.2f}" for found in (plain, sure, told)),
                *false,
            ]
        )
    header = (
        "invocations x batches",
        "step",
        "jobs",
        "asked",
        "plain means, q <= 0.05",
        "q <= 0.05",
        "called more",
        "false among q <= 0.05",
        "false among those called",
    )
    return header, rows


def _false_share(found: Sequence[bool]) -> float:
    """The false discovery proportion of one matrix, 0 where nothing was found (Benjamini & Hochberg 1995)."""
    return sum(found[REGRESSED:]) / max(1, sum(found))


def _plain_rates(cells: Sequence[Pool]) -> Vector:
    """The q of each cell by the usual moderated t: plain means of log ratios, no thought of jobs."""
    logs = [np.array([np.median(by_round(b, a)) for a, b in pairs]) for pairs in cells]
    samples = [Sample(one, ("",) * len(one), trimmed=False) for one in logs]
    return false_discovery_rates(np.array([move.chance for move in moderated(samples)]))


def _draw(pool: Pool, size: int, step: float, random: np.random.Generator) -> Pool:
    drawn = []
    for place in random.integers(len(pool), size=size):
        before, after = pool[place] if random.random() < 0.5 else pool[place][::-1]
        drawn.append((before[:BATCHES], [value * (1 + step) for value in after[:BATCHES]]))
    return drawn


PARTS: dict[str, tuple[Callable[[int], Table], int]] = {
    "false-positives": (false_positives, 200),
    "drift": (drift, 20),
    "upgrades": (upgrades_without_change, 100),
    "coverage": (coverage, 200),
    "noisy-cells": (noisy_cells, 250),
    "power": (power, 250),
}
"""What makes each table, and how often it draws."""
NAMED_BY = {"false-positives": 3, "drift": 2, "upgrades": 1, "coverage": 3, "noisy-cells": 2, "power": 2}
"""So many columns tell the rows of each table apart."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.comparison", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    parser.add_argument("--only", choices=list(PARTS), help="one table")
    options = parser.parse_args(arguments)
    for part in [options.only] if options.only else PARTS:
        make, scale = PARTS[part]
        print(f"\n## {part}\n\n{markdown_table(*make(max(1, scale // 10) if options.quick else scale))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
