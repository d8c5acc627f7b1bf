"""Unchanged commits, and commits that made one cell slower: how many are red, by the code of real runs.

A commit's run is simulated: forty cells of ten invocations in two jobs, each a paired log ratio of normal noise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.scorecard.figures import name, share
from kexbench.analysis.compared import CellData
from kexbench.analysis.estimates import compare
from kexbench.analysis.verdict import judge
from kexbench.api.commit_models import CheckView
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.commits import Reason
from kexbench.domain.hosts import HostKind
from kexbench.domain.runs import RunState
from kexbench.domain.scorecard import ScorecardRow, ScorecardTable
from kexbench.domain.verdicts import RELEVANT, run_verdict
from kexbench.watch.telling import status_of

CELLS, INVOCATIONS, JOBS = 40, 10, 2
NOISES = (0.003, 0.006, 0.013, 0.02)
"""Standard deviations of a paired log ratio."""
STEP = 0.02
SEED = 0
_CASE = Case(protocol=Protocol.TLS_1_3, key_exchange=KeyExchange.ECDHE_RSA, rsa_bits=2048, group="X25519")
_RUN = "run"
_CHECK = CheckView(
    path="spec.yaml",
    reason=Reason.LIBRARY,
    run_id=_RUN,
    faults=[],
    dry_run=None,
    state=RunState.FINISHED,
    detail="",
    invocations_stored=CELLS * INVOCATIONS,
)


@dataclass(frozen=True)
class Counted:
    """How many of the commits were called slower, by three rules."""

    commits: int
    red: int
    """Their status is a failure."""
    screened: int
    """The screening for alerts suspects the slower cell; for an unchanged commit, any cell."""
    apart: int
    """A cell's own 95% interval lies above 1, and the cell is 0.5% slower: no correction for many cells."""


def counted(commits: int, noise: float, step: float = 0.0) -> Counted:
    """With a step, only the first cell is slower, and apart from the status only its verdict counts."""
    random = np.random.default_rng(SEED)
    red = screened = apart = 0
    for _ in range(commits):
        cells = list(_cells(random, noise, step))
        judged = judge(cells)
        verdict = run_verdict([(("before", "after"), cell) for cell in judged])
        red += status_of(_CHECK, {_RUN: verdict}, "").state == "failure"
        counting = 1 if step else CELLS
        screened += any(cell.verdict == "more" for cell in judged[:counting])
        apart += any(map(_is_apart, cells[:counting]))
    return Counted(commits, red, screened, apart)


def _cells(random: np.random.Generator, noise: float, step: float) -> Iterator[CellData]:
    keys = [f"{_RUN}/{number % JOBS}/{number}" for number in range(INVOCATIONS)]
    for place in range(CELLS):
        costs = (1 + step * (place == 0)) * np.exp(noise * random.standard_normal(INVOCATIONS))
        yield CellData(
            case=_CASE,
            host_kind=HostKind("local", "this"),
            before={"both": dict.fromkeys(keys, (1.0,))},
            after={"both": {key: (cost,) for key, cost in zip(keys, costs.tolist(), strict=True)}},
            run_ids=(_RUN,),
            warnings=(),
            unlike=False,
        )


def _is_apart(cell: CellData) -> bool:
    ratio = compare(cell.after["both"], cell.before["both"])
    return ratio is not None and ratio.low > 1 and ratio.ratio >= 1 + RELEVANT


def verdict_tables(commits: int, say: Callable[[str], None]) -> tuple[list[Counted], tuple[ScorecardTable, ...]]:
    """The counts of unchanged commits, and the tables of both kinds."""
    counts: dict[float, list[Counted]] = {}
    for step in (0.0, STEP):
        for noise in NOISES:
            say(f"verdicts: {commits} commits with a {step:.0%} step at {noise:.1%} noise")
            counts.setdefault(step, []).append(counted(commits, noise, step))
    titles = {0.0: "Unchanged commits", STEP: f"Commits with one of {CELLS} cells {STEP:.0%} slower"}
    return counts[0.0], tuple(_table(titles[step], several) for step, several in counts.items())


def _table(title: str, counts: Sequence[Counted]) -> ScorecardTable:
    rows = (
        ScorecardRow(
            ours=True,
            cells=(name(f"{noise:.1%}"), *(share(count, of.commits) for count in (of.red, of.screened, of.apart))),
        )
        for noise, of in zip(NOISES, counts, strict=True)
    )
    return ScorecardTable(
        title=title,
        columns=("noise", "red commits", "suspected by the screening for alerts", "slower by a cell's own interval"),
        rows=tuple(rows),
    )


def sentence(unchanged: Sequence[Counted]) -> str:
    most = max(unchanged, key=lambda counted: counted.red)
    return f"Of {most.commits:,} unchanged commits, at most {most.red} were red at any noise."
