"""What a run says of the subjects that it compared: in numbers, and in one sentence."""

from collections.abc import Collection, Sequence

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.upgrades import UpgradeCell

RELEVANT = 0.005
"""Differences below half a percent are not called a change, however sure they are, where no spec says otherwise."""
LARGEST = 20
"""Of the cells that moved so many are named."""


class MovedCell(Frozen):
    """A case in a pool whose cost moved relevantly between two subjects."""

    case: str
    pool: str
    before: str
    after: str
    change: float = Field(description="0.02 is 2% more, also in the interval")
    low: float
    high: float


class RunVerdict(Frozen):
    """A cell is compared with the version before it of the same library."""

    compared: int = Field(description="all cells that were compared")
    unresolved: int = Field(description="those of them that nothing can be said of")
    more: int = Field(description="those that cost relevantly more")
    less: int
    largest: tuple[MovedCell, ...] = Field(description="of those that moved some, the furthest first")
    trouble: str = Field(description="why the run has not all that it should; empty where it has")
    sentence: str

    @property
    def moved(self) -> int:
        return self.more + self.less


def run_verdict(cells: Sequence[tuple[tuple[str, str], UpgradeCell]], trouble: str = "") -> RunVerdict:
    """The verdict of a run that compared these cells, each with the names of its two subjects. What is not judged is
    not compared."""
    compared = [(names, cell, cell.move) for names, cell in cells if cell.move]
    moved = [
        MovedCell(
            case=cell.title,
            pool=cell.pool,
            before=before,
            after=after,
            change=move.ratio - 1,
            low=move.low - 1,
            high=move.high - 1,
        )
        for (before, after), cell, move in compared
        if cell.verdict in ("more", "less")
    ]
    unresolved = sum(cell.verdict == "unresolved" for _, cell, _ in compared)
    return judged(len(compared), unresolved, moved, trouble)


def judged(compared: int, unresolved: int, moved: Collection[MovedCell], trouble: str = "") -> RunVerdict:
    """The verdict of a run of which these cells moved."""
    changes = [cell.change for cell in moved]
    return RunVerdict(
        compared=compared,
        unresolved=unresolved,
        more=sum(change > 0 for change in changes),
        less=sum(change <= 0 for change in changes),
        largest=tuple(sorted(moved, key=lambda cell: abs(cell.change), reverse=True)[:LARGEST]),
        trouble=trouble,
        sentence=_sentence(compared, unresolved, changes) + (" (incomplete)" if trouble else ""),
    )


def _sentence(compared: int, unresolved: int, changes: list[float]) -> str:
    """Short enough for a commit status."""
    if not compared:
        return "there is nothing to compare"
    unsure = f"; {unresolved:,} unresolved" if unresolved else ""
    of_all = f"of {compared:,} cell{'' if compared == 1 else 's'}"
    if not changes:
        return f"nothing moved relevantly, {of_all}{unsure}"
    more = [change for change in changes if change > 0]
    less = [change for change in changes if change <= 0]
    told = [f"{_costs(len(more))} more (up to {max(more):+.1%})"] if more else []
    if less:
        told.append(f"{_costs(len(less))} less (up to {min(less):+.1%})")
    return f"{of_all}, {' and '.join(told)}{unsure}"


def _costs(number: int) -> str:
    return f"{number:,} {'costs' if number == 1 else 'cost'}"
