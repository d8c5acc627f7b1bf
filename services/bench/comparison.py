"""`python -m bench.comparison [--quick] [--only PART]`: tables about the quality of comparisons of two versions.

They show false alarms on stored measurements without a change (data/README.md), the coverage of intervals on simulated
noise, and the power to find regressed cells of a matrix. Seeded, so the figures are always the same.
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
from kexbench.analysis.compared import CellData
from kexbench.analysis.discovery import FALSE_DISCOVERIES, false_discovery_rates
from kexbench.analysis.lists import compare_lists
from kexbench.analysis.moderation import moderate
from kexbench.analysis.moves import OUTLYING, Alike, LogMove, Pair, Sample, moderated, moves
from kexbench.analysis.resampling import wilson
from kexbench.analysis.rounds import Vector, by_round
from kexbench.analysis.verdict import judge
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.hosts import HostKind
from kexbench.domain.upgrades import UpgradeCell

DATA = Path(__file__).parent / "data" / "tls_aa.jsonl.gz"
CASE = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_ECDSA, curve="P-256", group="X25519")
CELLS, REGRESSED, NOISY, BATCHES = 40, 2, 4, 10
POWER_ROWS = ((3, 0.05, 0.89), (5, 0.05, 0.97), (10, 0.02, 0.71), (20, 0.02, 0.93))
"""Invocations, step, and the nominal power (docs/understand/statistics.md)."""
Invocations = list[list[float]]
Pool = list[tuple[list[float], list[float]]]
Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Table = tuple[tuple[str, ...], list[list[str]]]
"""Header and rows."""


@cache
def stored(kind: str, clock: int) -> Invocations:
    """The batches of every stored invocation. Clock 0 is wall time, 1 CPU time."""
    with gzip.open(DATA, "rt") as lines:
        return [row["v"][clock] for row in map(json.loads, lines) if row["kind"] == kind]


def interleaved(pool: Invocations) -> Pool:
    """The odd and the even batches of each invocation, like two interleaved subjects."""
    return [(values[0::2], values[1::2]) for values in pool]


def neighbours(pool: Invocations) -> Pool:
    return list(zip(pool[0::2], pool[1::2], strict=True))


def groups(pool: Pool, size: int, random: np.random.Generator) -> Iterator[tuple[Invocations, Invocations]]:
    """Disjoint groups of a pool, in pairs."""
    order = random.permutation(len(pool))
    for first in range(0, len(pool) - size + 1, size):
        drawn = [pool[place] for place in order[first : first + size]]
        swaps = random.random(size) < 0.5
        swapped = [(b, a) if swap else (a, b) for (a, b), swap in zip(drawn, swaps, strict=True)]
        yield [a for a, _ in swapped], [b for _, b in swapped]


def apart(pool: Invocations, size: int, random: np.random.Generator) -> Iterator[tuple[Invocations, Invocations]]:
    """Disjoint groups of invocations. One half of each is compared with the other."""
    order = random.permutation(len(pool))
    for first in range(0, len(pool) - 2 * size + 1, 2 * size):
        drawn = [pool[place] for place in order[first : first + 2 * size]]
        yield drawn[:size], drawn[size:]


def in_turn(pool: Invocations, size: int, _: np.random.Generator) -> Iterator[tuple[Invocations, Invocations]]:
    """Every block of invocations with the next one, in both orders. Any drift of the machine is between the two."""
    for first in range(len(pool) - 2 * size + 1):
        blocks = pool[first : first + size], pool[first + size : first + 2 * size]
        yield from (blocks, blocks[::-1])


def to_sentinel(pool: Invocations) -> Invocations:
    """Ratios of the odd batches to the even ones, which stand for a sentinel in the same invocations."""
    return [np.exp(by_round(own, frozen)).tolist() for own, frozen in interleaved(pool)]


Cut = Callable[[int, np.random.Generator], Iterator[tuple[Invocations, Invocations]]]
"""Makes pairs of lists with a given number of invocations."""


class Way(NamedTuple):
    paired: bool
    cut: Callable[[Invocations], Cut]
    """Makes the cut of a pool."""
    at_random: bool = True
    """Whether to cut repeatedly at random. Otherwise the cut yields all pairs."""


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
    """Pairs of lists without a change. Each pool is cut `scale` times at random."""
    random = np.random.default_rng(size)
    cuts = [WAYS[way].cut(stored(kind, clock)) for kind in ("ecdsa", "rsa")]
    return [pair for _ in range(scale if WAYS[way].at_random else 1) for cut in cuts for pair in cut(size, random)]


def false_positives(scale: int) -> Table:
    """How often `analyze compare` reports a regression without a change."""
    rows = []
    for (name, way), (clock, clock_name), size in product(WAYS.items(), enumerate(("wall", "CPU")), SIZES):
        lists = drawn(name, clock, size, scale)
        usual = [pair for pair in lists if compare_lists(*pair, way.paired, strict=False).regression]
        strict = [pair for pair in usual if compare_lists(*pair, way.paired, strict=True).regression]
        shares = (f"{len(alarms) / len(lists):.2%}" for alarms in (usual, strict))
        rows.append([name, clock_name, str(size), f"{len(lists):,}", *shares])
    return ("pairs", "clock", "invocations", "tests", "regression (0.5%)", "strict (0.05%)"), rows


def drift(scale: int) -> Table:
    """How much more two lists that are not interleaved differ than their scatter predicts: the root mean square of the
    difference of their means divided by that of its standard error. Without drift it is 1."""
    rows = []
    unpaired = [name for name, way in WAYS.items() if not way.paired]
    for name, (clock, clock_name) in product(unpaired, enumerate(("wall", "CPU"))):
        factors = []
        for size in SIZES:
            # Axes: pair of lists, list of the pair, invocation.
            lists = drawn(name, clock, size, scale)
            logs = np.array([[[np.log(np.median(values)) for values in side] for side in pair] for pair in lists])
            apart = logs[:, 0].mean(axis=1) - logs[:, 1].mean(axis=1)
            errors = logs.var(axis=2, ddof=1).sum(axis=1) / size
            factors.append(f"{np.sqrt((apart**2).mean() / errors.mean()):.1f}")
        rows.append([name, clock_name, *factors])
    return ("lists", "clock", *(f"{size} invocations" for size in SIZES)), rows


def upgrade_of(cells: Sequence[tuple[Pool, str]], *, paired: bool = True, jobs: int = 2) -> tuple[UpgradeCell, ...]:
    """The verdicts of a matrix. Each cell has both versions' values by invocation, and a clock."""
    data = []
    for pool, clock in cells:
        keys = [f"run/{number % jobs}/{number}" for number in range(len(pool))]
        other = keys if paired else [f"other{key}" for key in keys]
        before = {"both": {key: a for key, (a, _) in zip(keys, pool, strict=True)}}
        after = {"both": {key: b for key, (_, b) in zip(other, pool, strict=True)}}
        data.append(CellData(CASE, HostKind("pool", clock), before, after, ("run",), (), False))  # type: ignore[arg-type]
    return judge(data)


def upgrades_without_change(scale: int) -> Table:
    """Matrices of stored invocations without a change in any cell."""
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
        discovered = [sum((cell.q or 0) <= FALSE_DISCOVERIES for cell in upgrade) for upgrade in judged]
        rows.append([name, str(len(judged[0])), str(scale), *(_count(alarms, scale) for alarms in (discovered, moved))])
    header = ("matrix", "cells", "upgrades", "with a cell of q <= 0.05", "with one that is called moved")
    return header, rows


def _drawn_apart(random: np.random.Generator) -> Callable[[Invocations], Pool]:
    def pairs(pool: Invocations) -> Pool:
        order = random.permutation(len(pool)).tolist()
        return [(pool[a], pool[b]) for a, b in zip(order[0::2], order[1::2], strict=True)]

    return pairs


def _count(numbers: Sequence[int], tests: int) -> str:
    share = sum(number > 0 for number in numbers) / tests
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
"""Numbers of invocations: of paired log ratios, or of the log medians in each of two unpaired lists."""

MATRICES = {1: 200, 8: 5, 40: 1}
"""How often a matrix is drawn, by its number of cells."""


def coverage(scale: int) -> Table:
    """How often the 95% interval of a cell contains the true value, in matrices of one, eight and forty cells."""
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
            drawn = [noise(random, (cells, size)) * factor for size, factor in zip(sizes, times, strict=False)]
            samples = [[Sample(logs, ("",) * len(logs), trimmed=paired) for logs in matrix] for matrix in drawn]
            pairs = {place: Pair(lists) for place, lists in enumerate(zip(*samples, strict=True))}
            missed += [not _holds(move) for move in moves(pairs, dict.fromkeys(pairs)).values()]
        shares.append(f"{1 - np.mean(missed):.1%}")
    return ["paired" if paired else "not paired", " and ".join(map(str, sizes)), *shares]


def _holds(move: LogMove) -> bool:
    """Whether its interval contains the true value, 0."""
    low, high = move.bounds()
    return low <= 0 <= high


def noisy_cells(scale: int) -> Table:
    """How often 95% intervals contain the true value: of the noisier cells of a matrix, or of all cells if only single
    values are extreme. Compares the actual intervals with those after cutting all cells at the common noise."""
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
                samples = [Sample(values, ("",) * size, trimmed=True) for values in logs]
                shown = NOISY if times > 1 else CELLS
                pairs = zip(moderated(samples)[:shown], _cut_alike(samples, normal)[:shown], strict=True)
                missed += [[not _holds(move) for move in pair] for pair in pairs]
            rows.append([name, str(size), *(f"{share:.1%}" for share in 1 - np.mean(missed, axis=0))])
    return ("noise", "invocations", "as they are", "cut at the common noise"), rows


def _cut_alike(samples: Sequence[Sample], normal: float) -> list[LogMove]:
    """Moves after cutting the outliers of all cells at 2.5 standard deviations of the usual cell. `normal` is the usual
    distance of normal noise with standard deviation 1."""
    alike = Alike(np.array([sample.logs for sample in samples]), trimmed=True)
    reaches = np.full(len(samples), OUTLYING * _usual_distance(alike.logs) / normal)
    cut = alike.cut_at(reaches, float(alike.within(reaches).mean()))
    noise = moderate(np.array([sample.variance for sample in cut]), np.array([sample.freedom for sample in cut]))
    errors = np.sqrt(noise.variances / len(samples[0].logs))
    return [
        LogMove(sample.centre, float(error), float(freedom), float(freedom))
        for sample, error, freedom in zip(cut, errors, noise.freedoms, strict=True)
    ]


def _usual_distance(logs: Matrix) -> float:
    """The median distance of values from their cell's median, without the median itself."""
    distances = np.sort(np.abs(logs - np.median(logs, axis=1, keepdims=True)), axis=1)
    return float(np.median(distances[:, logs.shape[1] % 2 :]))


def power(scale: int) -> Table:
    """The share of regressed cells of a matrix that are found. Invocations are drawn from the stored CPU times. The
    first 20 batches are ten rounds of two interleaved subjects, and every batch of one is slower by the step."""
    pool = [pair for kind in ("ecdsa", "rsa") for pair in interleaved(stored(kind, 1))]
    rows = []
    for (size, step, nominal), jobs in product(POWER_ROWS, (1, 2)):
        random = np.random.default_rng(size)
        plain, discoveries, called_more = 0, 0, 0
        wrong, moved = [], []
        for _ in range(scale):
            cells = [(_draw(pool, size, step * (place < REGRESSED), random), "") for place in range(CELLS)]
            judged = upgrade_of(cells, jobs=jobs)
            plain += sum(_plain_rates([pairs for pairs, _ in cells])[:REGRESSED] <= FALSE_DISCOVERIES)
            discovered = [(cell.q or 0) <= FALSE_DISCOVERIES for cell in judged]
            moved_cells = [cell.verdict in ("more", "less") for cell in judged]
            discoveries += sum(discovered[:REGRESSED])
            called_more += sum(cell.verdict == "more" for cell in judged[:REGRESSED])
            wrong.append(_false_share(discovered))
            moved.append(_false_share(moved_cells))
        tests = scale * REGRESSED
        false = f"{np.mean(wrong):.1%}", f"{np.mean(moved):.1%}"
        rows.append(
            [
                f"{size} x {BATCHES}",
                f"{step:.0%}",
                str(jobs),
                f"{nominal:.2f}",
                *(f"{total / tests:.2f}" for total in (plain, discoveries, called_more)),
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


def _false_share(flags: Sequence[bool]) -> float:
    """The false discovery proportion of a matrix, 0 without discoveries (Benjamini & Hochberg 1995)."""
    return sum(flags[REGRESSED:]) / max(1, sum(flags))


def _plain_rates(cells: Sequence[Pool]) -> Vector:
    """The q of each cell by the usual moderated t: plain means of log ratios, without regard to jobs."""
    logs = [np.array([np.median(by_round(b, a)) for a, b in pairs]) for pairs in cells]
    samples = [Sample(values, ("",) * len(values), trimmed=False) for values in logs]
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
"""The function that makes each table, and its number of draws."""
NAMED_BY = {"false-positives": 3, "drift": 2, "upgrades": 1, "coverage": 3, "noisy-cells": 2, "power": 2}
"""The number of columns that identify a row of each table."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.comparison", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    parser.add_argument("--only", choices=list(PARTS), help="only this table")
    options = parser.parse_args(arguments)
    for part in [options.only] if options.only else PARTS:
        make, scale = PARTS[part]
        print(f"\n## {part}\n\n{markdown_table(*make(max(1, scale // 10) if options.quick else scale))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
