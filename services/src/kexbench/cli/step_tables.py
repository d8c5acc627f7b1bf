"""What each step from one version to the next cost, for people: a table a step, three lines a case.

The change of both sides together, of the client and of the server, each with its own interval and its own verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.api.run_models import RunDetail
from kexbench.cli.words import cases_text, rate_text
from kexbench.comparison.models import Cell, Change, SubjectView
from kexbench.domain.components import ComponentChange, components_words
from kexbench.domain.library_commits import version_text
from kexbench.domain.upgrades import CellVerdict

STEP_LEGEND = (
    "Change of the CPU time of a handshake with its 95% interval: both sides together, then each. Below each case: "
    "handshakes per CPU-second, both sides together, before and after."
)
LEVEL_LEGEND = "Handshakes per CPU-second, client and server together; ± is the 95% interval of the median."
VERDICTS: Mapping[CellVerdict, str] = {
    "more": "costs more",
    "less": "costs less",
    "same": "the same",
    "unresolved": "cannot tell",
    "unlike": "not alike",
    "apart": "not compared",
}
CASE_WIDTH, NUMBER_WIDTH = 14, 10
"""At least, in columns of a terminal: no group (`X25519MLKEM768`) and no number (`[+123.45%,`) is broken in two."""
NO_NUMBER = "no number"
NO_SIDES = "too few invocations tell the client and the server apart"
SIDE_COLUMNS = ("both sides", "client", "server")


class HasMove(Protocol):
    """A change of a cost with its interval."""

    @property
    def ratio(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def case_table(title: str, columns: Iterable[str]) -> Table:
    """Without rows. What does not fit is wrapped; nothing is cut off."""
    table = Table(
        title=Text(title),  # as it is: a name in brackets is no markup
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        row_styles=["", "dim"],
    )
    table.add_column("case", min_width=CASE_WIDTH, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold", min_width=NUMBER_WIDTH)
    return table


def case_text(title: str) -> str:
    """A case's title on two lines: what is exchanged, and with which keys."""
    return title.replace(", ", "\n", 1)


def move_text(move: HasMove | None, verdict: str) -> str:
    """`+1.20%`, `[+0.91%, +1.49%]` and the verdict on a line each."""
    if move is None:
        return verdict or NO_NUMBER
    interval = f"[{move.low - 1:+.2%}, {move.high - 1:+.2%}]"
    return "\n".join(filter(None, [f"{move.ratio - 1:+.2%}", interval, verdict]))


def step_tables(detail: RunDetail) -> list[Table]:
    """One a step, in the order of the subjects."""
    found = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    names = {subject.subject: subject for subject in detail.subjects}
    return [
        _step_table(detail, names[before], names[after], found)
        for before, after in steps_of(detail)
        if before in names and after in names
    ]


def steps_of(detail: RunDetail) -> list[tuple[str, str]]:
    """Each subject behind the one that it is compared with in some case."""
    found = [
        dict.fromkeys(
            (cell.change.against, cell.subject)
            for cell in detail.cells
            if cell.change and cell.subject == subject.subject
        )
        for subject in detail.subjects
    ]
    return [step for steps in found for step in steps]


def _step_table(
    detail: RunDetail, before: SubjectView, after: SubjectView, found: Mapping[tuple[str, str], Cell]
) -> Table:
    where = detail.host_kind.cpu_model if detail.host_kind else "no machine yet"
    changes = [change for _, change in _changes(detail, before.subject, after.subject)]
    along = along_text(one for change in changes for one in change.components)
    table = case_table(f"{step_text(before, after)} on {where}{along}", SIDE_COLUMNS)
    for case in detail.cases:
        cell = found.get((case.id, after.subject))
        if cell and cell.change and cell.change.against != before.subject:
            continue  # another step's
        older = found.get((case.id, before.subject))
        table.add_row(*map(Text, (f"{case_text(case.title)}\n{_levels_text(older, cell)}", *_sides(older, cell))))
    return table


def step_text(before: SubjectView, after: SubjectView) -> str:
    """`openssl 3.0.17 → 3.5.1`; of one version twice with the sources."""
    first, second = (version_text(one.version, one.commit) for one in (before, after))
    if first == second:
        first, second = f"{first} ({before.source})", f"{second} ({after.source})"
    return f"{after.library} {first} → {second}"


def _levels_text(before: Cell | None, after: Cell | None) -> str:
    """`1,361/s → 1,190/s`: without their intervals, which hold what the machine did, unlike those of the change."""
    levels = [f"{1e9 / cell.estimate.value:,.0f}/s" if cell and cell.estimate else "none" for cell in (before, after)]
    return " → ".join(levels)


def _sides(before: Cell | None, after: Cell | None) -> Sequence[str]:
    change = after.change if after else None
    if change is None:
        return _absence_text(before, after), "", ""
    sides = (change.client, change.server)
    return (
        move_text(change, VERDICTS[change.verdict]),
        *(move_text(side, VERDICTS[side.verdict]) if side else _no_side_text(after) for side in sides),
    )


def _no_side_text(cell: Cell | None) -> str:
    return str(cell.sides_outcome.kind) if cell and cell.sides_outcome else NO_NUMBER


def _absence_text(before: Cell | None, after: Cell | None) -> str:
    """Why nothing is compared; the reason in full stands below the tables."""
    for cell, which in ((after, "after"), (before, "before")):
        if cell is None:
            return f"{which}: not measured"
        if cell.estimate is None:
            return f"{which}: {cell.outcome.kind}" if cell.outcome else f"{which}: no number"
    return "too few invocations"


def level_table(detail: RunDetail) -> Table | None:
    """The subjects that no step leads from or to; None where there are none."""
    compared = {name for step in steps_of(detail) for name in step}
    alone = [subject for subject in detail.subjects if subject.subject not in compared]
    if not alone:
        return None
    found = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    where = detail.host_kind.cpu_model if detail.host_kind else "no machine yet"
    names = (f"{subject.library}\n{version_text(subject.version, subject.commit)}" for subject in alone)
    table = case_table(f"{detail.summary.spec_name} on {where}", names)
    for case in detail.cases:
        cells = (found.get((case.id, subject.subject)) for subject in alone)
        table.add_row(case_text(case.title), *map(_level_text, cells))
    return table


def _level_text(cell: Cell | None) -> str:
    """`1,361 ±0.6%`, or the kind of outcome that stands in for a number."""
    if cell is None:
        return ""
    if cell.estimate is None:
        return str(cell.outcome.kind) if cell.outcome else ""
    return rate_text(cell.estimate)


def step_lines(detail: RunDetail) -> list[str]:
    """Why numbers are not quite alike, each reason with the cases that it is of."""
    titles = {case.id: case.title for case in detail.cases}
    names = {subject.subject: subject for subject in detail.subjects}
    disturbed = {(cell.case_id, cell.subject) for cell in detail.cells if cell.sides_outcome}
    lines = []
    for before, after in steps_of(detail):
        changes = _changes(detail, before, after)
        step = step_text(names[before], names[after]) if before in names else after
        by_warning: dict[str, list[str]] = {}
        for case_id, change in changes:
            untold = None in (change.client, change.server) and (case_id, after) not in disturbed
            for warning in change.warnings + ([NO_SIDES] if untold else []):
                by_warning.setdefault(warning, []).append(titles[case_id])
        lines += [f"{step}: {warning}: {cases_text(own, len(changes))}" for warning, own in by_warning.items()]
    return lines


def _changes(detail: RunDetail, before: str, after: str) -> list[tuple[str, Change]]:
    """Of a step, by case id."""
    return [
        (cell.case_id, cell.change)
        for cell in detail.cells
        if cell.subject == after and cell.change and cell.change.against == before
    ]


def along_text(changes: Iterable[ComponentChange]) -> str:
    """A table's second line: what changed along with the library. Empty where nothing did."""
    words = components_words(dict.fromkeys(changes))
    return f"\n{words}: part of a change may be theirs" if words else ""
