"""Tables of the change from one version to the next: one table a step, three lines a case.

The changes of both sides together, of the client and of the server each have an interval and a verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.answers.cells import Cell
from kexbench.answers.change import Change
from kexbench.answers.run import RunDetail
from kexbench.cli.words import are_cut, host_text, rate_text, shared_line
from kexbench.domain.components import components_words
from kexbench.domain.differences import Difference
from kexbench.domain.intervals import Estimate
from kexbench.domain.library_commits import version_text
from kexbench.domain.numbers import move_words
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES_OF, VERDICT_WORDS, CellVerdict, SpreadMove, UpgradeCell

UNRESOLVED_LEGEND = "Unresolved: not significant, or smaller than the resolution."
STEP_LEGEND = (
    "Change of the CPU time of a handshake, or of a connection that goes beyond it, with its 95% interval: both sides "
    "together, then each side. Below each case: handshakes per CPU-second, both sides together, before and after, "
    "as medians. The change is the mean of the invocations' own ratios, so it may differ from the ratio of the medians."
)
LEVEL_LEGEND = "handshakes per CPU-second, client and server together"
REACH_LEGEND = "; ± is the 95% interval of the median"
CASE_WIDTH, NUMBER_WIDTH = 14, 10
"""Minimum widths: neither a group (`X25519MLKEM768`) nor a number (`[+123.45%,`) is wrapped."""
NO_RESULT = "no result"
NO_SIDES = "too few invocations have separate numbers of the client and the server"
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
    """An empty table that wraps long texts."""
    table = Table(
        title=Text(title),  # literal: a name in brackets is not markup
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


def verdict_words(verdict: CellVerdict, resolves: float | None) -> str:
    """`slower`; an unresolved one with the resolution on a second line."""
    if verdict != "unresolved" or resolves is None:
        return VERDICT_WORDS[verdict]
    return f"{VERDICT_WORDS[verdict]}\n(resolution {resolves:.1%})"


def case_text(title: str) -> str:
    """The title of a case on two lines: key exchange and keys."""
    return title.replace(", ", "\n", 1)


def move_text(move: HasMove | None, verdict: str) -> str:
    """`+1.20%`, `[+0.91%, +1.49%]` and the verdict, one line each."""
    if move is None:
        return verdict or NO_RESULT
    change = move_words(move.ratio, move.low, move.high, places=2)
    return "\n".join(filter(None, [change.replace(" [", "\n["), verdict]))


def spread_text(spread: SpreadMove | None) -> str:
    """`costs vary more from invocation to invocation: 1.2% → 4.1%`; empty if that did not change."""
    words = spread_words(spread) if spread else ""
    return f"{words}: {_spread_sizes(spread)}" if spread and words else ""


def spread_words(spread: SpreadMove) -> str:
    """`costs vary more from invocation to invocation`; empty if that did not change."""
    return "" if spread.verdict == "unresolved" else f"costs vary {spread.verdict} from invocation to invocation"


def _spread_sizes(spread: SpreadMove) -> str:
    return f"{spread.before:.1%} → {spread.after:.1%}"


def step_tables(detail: RunDetail) -> list[Table]:
    """One table a step, in the order of the subjects."""
    cells = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    names = {subject.name: subject for subject in detail.subjects}
    return [
        _step_table(detail, names[before], names[after], cells)
        for before, after in steps_of(detail)
        if before in names and after in names
    ]


def steps_of(detail: RunDetail) -> list[tuple[str, str]]:
    """Pairs of a baseline and the subject that is compared with it in some case."""
    steps_by_subject = [
        dict.fromkeys(
            (cell.change.before.subject, cell.subject)
            for cell in detail.cells
            if cell.change and cell.subject == subject.name
        )
        for subject in detail.subjects
    ]
    return [step for steps in steps_by_subject for step in steps]


def _step_table(detail: RunDetail, before: Subject, after: Subject, cells: Mapping[tuple[str, str], Cell]) -> Table:
    where = host_text(detail.host_kind) if detail.host_kind else "no machine yet"
    changes = [change for _, change in _changes(detail, before.name, after.name)]
    along = along_text(component for change in changes for component in change.components)
    table = case_table(f"{step_text(before, after)} on {where}{along}", SIDE_COLUMNS)
    for case in detail.cases:
        cell = cells.get((case.id, after.name))
        if cell and cell.change and cell.change.before.subject != before.name:
            continue  # belongs to another step
        older = cells.get((case.id, before.name))
        table.add_row(*map(Text, (f"{case_text(case.title)}\n{_levels_text(older, cell)}", *_sides(older, cell))))
    return table


def step_text(before: Subject, after: Subject) -> str:
    """`openssl 3.0.17 → 3.5.1`; with the sources if the versions are equal."""
    first, second = (version_text(subject.version, subject.commit) for subject in (before, after))
    if first == second:
        first, second = f"{first} ({before.source})", f"{second} ({after.source})"
    return f"{after.library} {first} → {second}"


def _levels_text(before: Cell | None, after: Cell | None) -> str:
    """`1,361/s → 1,190/s`: without intervals, which include machine noise, unlike those of the change."""
    levels = [
        f"{1e9 / cell.estimate.value:,.0f}/s" if cell and cell.estimate else NO_RESULT for cell in (before, after)
    ]
    return " → ".join(levels)


def _sides(before: Cell | None, after: Cell | None) -> Sequence[str]:
    change = after.change if after else None
    if change is None:
        return _absence_text(before, after), "", ""
    sides = (change.client, change.server)
    return (
        move_text(change, verdict_words(change.verdict, change.resolves)),
        *(move_text(side, VERDICT_WORDS[side.verdict]) if side else NO_RESULT for side in sides),
    )


def _absence_text(before: Cell | None, after: Cell | None) -> str:
    """Why nothing is compared. The full reason is below the tables."""
    for cell, which in ((after, "after"), (before, "before")):
        if cell is None:
            return f"{which}: not measured"
        if cell.estimate is None:
            return f"{which}: {cell.outcome.kind}" if cell.outcome else f"{which}: {NO_RESULT}"
    return "too few invocations"


def level_table(detail: RunDetail) -> Table | None:
    """The subjects that are in no step; None if there are none."""
    compared = {name for step in steps_of(detail) for name in step}
    alone = [subject for subject in detail.subjects if subject.name not in compared]
    if not alone:
        return None
    by_place = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    where = host_text(detail.host_kind) if detail.host_kind else "no machine yet"
    names = (f"{subject.library}\n{version_text(subject.version, subject.commit)}" for subject in alone)
    table = case_table(f"{detail.summary.spec_name} on {where}", names)
    for case in detail.cases:
        cells = (by_place.get((case.id, subject.name)) for subject in alone)
        table.add_row(case_text(case.title), *map(_level_text, cells))
    return table


def step_legend(detail: RunDetail) -> str:
    """What the tables of steps show. It explains `unresolved` if they have it."""
    return "\n".join([STEP_LEGEND, *unresolved_legend([cell.change for cell in detail.cells if cell.change])])


def unresolved_legend(changes: Sequence[Change] | Sequence[UpgradeCell]) -> list[str]:
    """What `unresolved` means, if a change or one of its sides is."""
    judged = [each for change in changes for each in (change, change.client, change.server) if each]
    return [UNRESOLVED_LEGEND] if any(each.verdict == "unresolved" for each in judged) else []


def level_legend(detail: RunDetail) -> str:
    """What the table of levels shows. It explains ± if a level has it."""
    compared = {name for step in steps_of(detail) for name in step}
    shown = [cell.estimate for cell in detail.cells if cell.estimate and cell.subject not in compared]
    table = "Of versions without a change" if compared else "The table"
    return f"{table}: {LEVEL_LEGEND}{REACH_LEGEND if any(map(has_reach, shown)) else ''}."


def has_reach(estimate: Estimate) -> bool:
    """Whether ± is shown beside it."""
    return estimate.low is not None and estimate.high is not None


def _level_text(cell: Cell | None) -> str:
    """`1,361 ±0.6%`, or the kind of outcome if there is no result."""
    if cell is None:
        return ""
    if cell.estimate is None:
        return str(cell.outcome.kind) if cell.outcome else ""
    return rate_text(cell.estimate)


def step_lines(detail: RunDetail) -> list[str]:
    """Warnings about comparisons, one line each, with the number of its cells and the first of them."""
    titles = {case.id: case.title for case in detail.cases}
    names = {subject.name: subject for subject in detail.subjects}
    disturbed = {(cell.case_id, cell.subject) for cell in detail.cells if cell.sides_outcome}
    spreads: dict[str, list[tuple[str, str]]] = {}
    by_warning: dict[str, list[tuple[str, str]]] = {}
    sizes: dict[str, int] = {}
    for before, after in steps_of(detail):
        changes = _changes(detail, before, after)
        step = step_text(names[before], names[after]) if before in names else after
        sizes[step] = len(changes)
        for case_id, change in changes:
            if change.spread and (words := spread_words(change.spread)):
                spreads.setdefault(words, []).append((step, f"{titles[case_id]}, {_spread_sizes(change.spread)}"))
            is_unexplained = None in (change.client, change.server) and (case_id, after) not in disturbed
            for warning in change.warnings + ([NO_SIDES] if is_unexplained else []):
                by_warning.setdefault(warning, []).append((step, titles[case_id]))
    lines = [shared_line(words, cells) for words, cells in spreads.items()]
    for warning, cells in by_warning.items():
        steps = {step for step, _ in cells}
        lines.append(shared_line(warning, cells, sizes[steps.pop()] if len(steps) == 1 else sum(sizes.values())))
    is_cut = any(are_cut(cells) for cells in (*spreads.values(), *by_warning.values()))
    return lines + (rest_lines(detail) if is_cut else [])


def rest_lines(detail: RunDetail) -> list[str]:
    """Where to read of every cell what lines above leave out."""
    is_usual = detail.metric == SIDES_OF[detail.measure.instrument]["both"]
    metric = "" if is_usual else f" --metric {detail.metric}"
    return [f"Every cell with its reasons: kexbench runs show {detail.summary.run_id}{metric} --json"]


def _changes(detail: RunDetail, before: str, after: str) -> list[tuple[str, Change]]:
    """The changes of a step with their case ids."""
    return [
        (cell.case_id, cell.change)
        for cell in detail.cells
        if cell.subject == after and cell.change and cell.change.before.subject == before
    ]


def along_text(changes: Iterable[Difference]) -> str:
    """Second line of a table's title: components that changed with the library. Empty if none did."""
    components = dict.fromkeys(changes)
    they = "it" if len(components) == 1 else "they"
    return f"\n{components_words(components)}: {they} may cause a part of a change" if components else ""
