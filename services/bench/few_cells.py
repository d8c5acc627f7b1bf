"""`python -m bench.few_cells [--quick]`: what comparisons of few cells find, by the number of jobs that share the
invocations. Simulated and seeded, so the figures are always the same (docs/understand/statistics/evidence.md)."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from bench.tables import markdown_table
from kexbench.analysis.compared import Judged
from kexbench.analysis.moves import Pair, Sample
from kexbench.analysis.verdict import judge_pairs

INVOCATIONS = 24
NOISE = 0.02
"""The standard deviation of the log ratio of one invocation."""
STEP = 0.06
"""By which the first cell is slower."""
JOBS = (1, 2, 6)
BETWEEN_JOBS = (0.0, 0.3)
"""The standard deviation of the jobs' own effects, relative to that of an invocation."""
CELLS = (1, 3, 20)
MATRICES = 2000


def simulated(cells: int, jobs: int, between: float, step: float, matrices: int) -> Iterator[dict[int, Judged]]:
    """Matrices in which the first cell alone is slower by the step."""
    random = np.random.default_rng(1)
    job = np.arange(INVOCATIONS) * jobs // INVOCATIONS
    names = tuple(map(str, job))
    for _ in range(matrices):
        pairs = {}
        for place in range(cells):
            logs = random.normal(0, NOISE, INVOCATIONS) + random.normal(0, between * NOISE, jobs)[job]
            pairs[place] = Pair((Sample(logs + (np.log1p(step) if place == 0 else 0), names, trimmed=True),))
        yield judge_pairs(pairs, dict.fromkeys(pairs, "host"), {})


def rows(matrices: int) -> Iterator[list[str]]:
    for cells, between, jobs in product(CELLS, BETWEEN_JOBS, JOBS):
        alike = list(simulated(cells, jobs, between, 0, matrices))
        false = np.mean([any(cell.verdict in ("more", "less") for cell in each.values()) for each in alike])
        held = np.mean([low <= 0 <= high for each in alike for low, high in (each[0].move.bounds(),)])
        resolves = np.quantile([each[0].resolves for each in alike], (0.5, 0.9))
        found = np.mean([each[0].verdict == "more" for each in simulated(cells, jobs, between, STEP, matrices)])
        figures = (f"{held:.1%}", f"{resolves[0]:.1%}", f"{resolves[1]:.1%}", f"{false:.1%}", f"{found:.0%}")
        yield [str(cells), f"{between:.1f}", str(jobs), *figures]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.few_cells", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the matrices")
    matrices = MATRICES // 10 if parser.parse_args(arguments).quick else MATRICES
    header = (
        *("cells", "sd between jobs", "jobs", "intervals that hold the truth"),
        *("resolution, median", "resolution, 90th percentile", "matrices with a false verdict", f"{STEP:.0%} found"),
    )
    print(markdown_table(header, list(rows(matrices))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
