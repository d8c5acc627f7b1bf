"""Commits that changed nothing, and commits that made one cell slower: how many are red, by the code that decides it.

A commit's run is simulated: forty cells of ten invocations in two jobs, each a paired log ratio of normal noise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.scorecard.figures import name, share
from kexbench.analysis.estimates import compare
from kexbench.analysis.verdict import CellData, judge
from kexbench.api.commit_models import CheckView
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.commits import Reason
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
    """Of so many commits."""

    commits: int
    red: int
    """Whose status is a failure."""
    screened: int
    """Whose slower cell the screening for alerts suspects; of an unchanged commit, any."""
    apart: int
    """With a cell whose own 95% interval lies above 1, and half a percent: what no correction for many cells gives."""


def counted(commits: int, noise: float, step: float = 0.0) -> Counted:
    """Of a step the first cell alone is slower, and only what is said of it counts beside the status."""
    random = np.random.default_rng(SEED)
    red = screened = apart = 0
    for _ in range(commits):
        cells = list(_cells(random, noise, step))
        judged = judge(cells)
        verdict = run_verdict([(("before", "after"), cell) for cell in judged])
        red += status_of(_CHECK, {_RUN: verdict}, "").state == "failure"
        asked = 1 if step else CELLS
        screened += any(cell.verdict == "more" for cell in judged[:asked])
        apart += any(map(_is_apart, cells[:asked]))
    return Counted(commits, red, screened, apart)


def _cells(random: np.random.Generator, noise: float, step: float) -> Iterator[CellData]:
    keys = [f"{_RUN}/{number % JOBS}/{number}" for number in range(INVOCATIONS)]
    for place in range(CELLS):
        costs = (1 + step * (place == 0)) * np.exp(noise * random.standard_normal(INVOCATIONS))
        yield CellData(
            case=_CASE,
            pool="local",
            cpu_model="this",
            before={"both": dict.fromkeys(keys, (1.0,))},
            after={"both": {key: (cost,) for key, cost in zip(keys, costs.tolist(), strict=True)}},
            run_ids=(_RUN,),
            warnings=(),
            unlike=False,
        )


def _is_apart(cell: CellData) -> bool:
    found = compare(cell.after["both"], cell.before["both"])
    return found is not None and found.low > 1 and found.ratio >= 1 + RELEVANT


def verdict_tables(commits: int, say: Callable[[str], None]) -> tuple[list[Counted], tuple[ScorecardTable, ...]]:
    """Of unchanged commits, with the tables of both kinds."""
    found: dict[float, list[Counted]] = {}
    for step in (0.0, STEP):
        for noise in NOISES:
            say(f"verdicts: {commits} commits of a {step:.0%} step at {noise:.1%} noise")
            found.setdefault(step, []).append(counted(commits, noise, step))
    titles = {0.0: "Commits that changed nothing", STEP: f"Commits with one of {CELLS} cells {STEP:.0%} slower"}
    return found[0.0], tuple(_table(titles[step], several) for step, several in found.items())


def _table(title: str, found: Sequence[Counted]) -> ScorecardTable:
    rows = (
        ScorecardRow(
            ours=True,
            cells=(name(f"{noise:.1%}"), *(share(count, one.commits) for count in (one.red, one.screened, one.apart))),
        )
        for noise, one in zip(NOISES, found, strict=True)
    )
    return ScorecardTable(
        title=title,
        columns=("noise", "red commits", "suspected by the screening for alerts", "each cell by its own interval"),
        rows=tuple(rows),
    )


def sentence(unchanged: Sequence[Counted]) -> str:
    most = max(unchanged, key=lambda one: one.red)
    return f"Of {most.commits:,} commits that changed nothing at most {most.red} were red, whatever the noise."
