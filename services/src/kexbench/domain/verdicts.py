"""The result of a run for the subjects that it compared, in numbers and in one sentence."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Metric
from kexbench.domain.numbers import listed, signed_words
from kexbench.domain.profiles import Culprit
from kexbench.domain.upgrades import UpgradeCell

RELEVANT = 0.005
"""Default share below which differences are not called changes, however certain."""
LARGEST = 20
"""At most so many moved cells are named."""


MissingReason = Literal[
    "unsupported",
    "mismatch",
    "error",
    "crashed",
    "hung",
    "too few invocations",
    "different work",
    "set aside",
    "not measured",
]
"""Why a planned comparison has no result: what failed most often in the version without numbers, or in the one before
it; fewer than three invocations of both; or the two versions did different work."""
NOTHING_MISSING: Mapping[MissingReason, int] = MappingProxyType({})
_SHOWN_REASONS = 3


class MovedCell(Ratio):
    """A case in a pool whose cost moved relevantly between two subjects."""

    case: str
    pool: str
    before: str
    after: str


class ExactChange(Frozen):
    """What a run shows of an exact metric between two subjects."""

    metric: Metric
    before: str
    after: str
    more: int = Field(description="cells with more of it")
    less: int
    text: str = Field(examples=["server bytes 1,482 → 2,663 B (+79.7%) in 3 of 8 cases"])


class RunVerdict(Frozen):
    """A cell is compared with the version before it of the same library."""

    compared: int = Field(description="all cells that were compared")
    missing: dict[MissingReason, int] = Field(
        {}, description="planned comparisons without a result, by reason, the most frequent first"
    )
    lost: int = Field(0, description="comparisons in which only the newer version failed; they are among the missing")
    unresolved: int = Field(description="compared cells without a clear result")
    more: int = Field(description="cells that cost relevantly more")
    less: int
    largest: tuple[MovedCell, ...] = Field(description="the largest moves, in order")
    culprits: tuple[Culprit, ...] = Field(
        (),
        description="functions that the increases are in, the largest share first; only if instructions were counted",
    )
    exact: tuple[ExactChange, ...] = Field(
        (), description="changes of exact metrics, increases first; they decide nothing about the run"
    )
    trouble: str = Field(description="why results are missing; empty where the run is complete")
    sentence: str

    @property
    def is_worse(self) -> bool:
        """Whether the newer version costs more somewhere, or fails where the earlier one does not."""
        return bool(self.more or self.lost)

    @property
    def moved(self) -> int:
        return self.more + self.less


def run_verdict(
    cells: Sequence[tuple[tuple[str, str], UpgradeCell]],
    trouble: str = "",
    missing: Mapping[MissingReason, int] = NOTHING_MISSING,
    lost: int = 0,
    culprits: tuple[Culprit, ...] = (),
    exact: tuple[ExactChange, ...] = (),
) -> RunVerdict:
    """The verdict of a run that compared these cells, each with the names of its two subjects. Cells without a move
    don't count as compared; the caller counts them among the `missing` ones."""
    compared = [(names, cell, cell.move) for names, cell in cells if cell.move]
    moved = [
        MovedCell(
            case=cell.title,
            pool=cell.host_kind.pool,
            before=before,
            after=after,
            **vars(move),
        )
        for (before, after), cell, move in compared
        if cell.verdict in ("more", "less")
    ]
    unresolved = sum(cell.verdict == "unresolved" for _, cell, _ in compared)
    return judged(len(compared), unresolved, moved, trouble, missing, lost, culprits, exact)


def judged(
    compared: int,
    unresolved: int,
    moved: Collection[MovedCell],
    trouble: str = "",
    missing: Mapping[MissingReason, int] = NOTHING_MISSING,
    lost: int = 0,
    culprits: tuple[Culprit, ...] = (),
    exact: tuple[ExactChange, ...] = (),
) -> RunVerdict:
    """The verdict of a run in which these cells moved."""
    by_reason = dict(sorted(missing.items(), key=lambda each: (-each[1], each[0])))
    return RunVerdict(
        compared=compared,
        missing=by_reason,
        lost=lost,
        unresolved=unresolved,
        more=sum(cell.ratio > 1 for cell in moved),
        less=sum(cell.ratio <= 1 for cell in moved),
        largest=tuple(sorted(moved, key=lambda cell: abs(cell.ratio - 1), reverse=True)[:LARGEST]),
        culprits=culprits,
        exact=exact,
        trouble=trouble,
        sentence=_sentence(compared, unresolved, moved, by_reason)
        + _more_of(exact)
        + (" (incomplete)" if trouble else ""),
    )


def _sentence(
    compared: int, unresolved: int, moved: Collection[MovedCell], missing: Mapping[MissingReason, int]
) -> str:
    """Short enough for a commit status."""
    if not compared:
        return f"nothing could be compared: {_reasons(missing)}" if missing else "nothing to compare"
    unsure = f"; {unresolved:,} unresolved" if unresolved else ""
    unsure += _without(missing)
    count = f"{compared:,} comparison{'' if compared == 1 else 's'}"
    if not moved:
        return f"no significant change in {count}{unsure}"
    slower = [cell for cell in moved if cell.ratio > 1]
    faster = [cell for cell in moved if cell.ratio <= 1]
    parts = [f"slower{share_words(len(slower), compared, 'comparison')}{_sizes(slower)}"] if slower else []
    if faster:
        share = f" in {len(faster):,}" if slower else share_words(len(faster), compared, "comparison")
        parts.append(f"faster{share}{_sizes(faster)}")
    return ", ".join(parts) + unsure


def _more_of(changes: Collection[ExactChange]) -> str:
    """`; more server bytes and round trips`"""
    names = list(dict.fromkeys(change.metric.words for change in changes if change.more))
    return f"; more {listed(names)}" if names else ""


def _without(missing: Mapping[MissingReason, int]) -> str:
    """`; 3 without a result`, with the reason if all have the same."""
    if not missing:
        return ""
    reason = f" ({next(iter(missing))})" if len(missing) == 1 else ""
    return f"; {sum(missing.values()):,} without a result{reason}"


def _reasons(missing: Mapping[MissingReason, int]) -> str:
    named = [f"{count:,} {reason}" for reason, count in list(missing.items())[:_SHOWN_REASONS]]
    return ", ".join([*named, *(["and others"] if len(missing) > _SHOWN_REASONS else [])])


def _sizes(cells: Collection[MovedCell]) -> str:
    """Sizes without names of cases, since a forge would interpret markup in them."""
    largest = max((cell.ratio - 1 for cell in cells), key=abs)
    return f" ({signed_words(largest)})" if len(cells) == 1 else f" (up to {signed_words(largest)})"


def share_words(number: int, total: int, noun: str) -> str:
    """` in 3 of 120 cases`, ` in all 3 cases`, ` in both cases`; empty for one of one."""
    if number < total:
        return f" in {number:,} of {total:,} {noun}s"
    return f" in all {total:,} {noun}s" if total > 2 else f" in both {noun}s" if total == 2 else ""
