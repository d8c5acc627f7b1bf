"""The table of a run's numbers for one metric, in its own unit."""

from rich.table import Table
from rich.text import Text

from kexbench.answers.cells import Cell
from kexbench.answers.run import RunDetail
from kexbench.cli.step_tables import NO_RESULT, case_table, case_text, has_reach, move_text
from kexbench.cli.words import host_text
from kexbench.domain.instruments import INSTRUMENTS
from kexbench.domain.intervals import Estimate
from kexbench.domain.library_commits import version_text
from kexbench.domain.metrics import MetricGroup
from kexbench.domain.numbers import amount_words, margin_words
from kexbench.domain.upgrades import VERDICT_WORDS

CHANGE_LEGEND = "Below a number: the change from the version that it names, with its 95% interval."
_VERDICTS = {**VERDICT_WORDS, "more": "more", "less": "less"}


def metric_table(detail: RunDetail) -> Table:
    """One row a case, one column a subject."""
    by_place = {(cell.case_id, cell.subject): cell for cell in detail.cells}
    names = {each.name: f"{each.library}\n{version_text(each.version, each.commit)}" for each in detail.subjects}
    where = f" on {host_text(detail.host_kind)}" if detail.host_kind else ""
    table = case_table(f"{detail.summary.spec_name}: {detail.metric.row.title}{where}", names.values())
    for case in detail.cases:
        cells = (by_place.get((case.id, subject)) for subject in names)
        texts = [cell_text(cell, detail.metric.unit, names) for cell in cells]
        table.add_row(*map(Text, (case_text(case.title), *texts)))
    return table


def metric_legend(detail: RunDetail) -> str:
    """What the numbers and signs of the table mean."""
    reach = (
        "; ± is their 95% interval" if any(cell.estimate and has_reach(cell.estimate) for cell in detail.cells) else ""
    )
    each = "process" if detail.metric.row.group is MetricGroup.START else "handshake"
    lines = [f"Medians of the invocations, per {each} unless the title says otherwise{reach}."]
    if any(cell.change for cell in detail.cells):
        lines.append(CHANGE_LEGEND)
    if detail.measure.instrument.counts:
        by = INSTRUMENTS[detail.measure.instrument].counted_by
        lines.append(f"Counted by {by}. kexbench why names the functions behind a difference.")
    return "\n".join(lines)


def cell_text(cell: Cell | None, unit: str, names: dict[str, str]) -> str:
    """`46,730 B ±0.1%` and the change, or the kind of outcome if there is no result."""
    if cell is None:
        return ""
    if cell.estimate is None:
        return str(cell.outcome.kind) if cell.outcome else NO_RESULT
    change = cell.change
    if change is None:
        return _amount_text(cell.estimate, unit)
    before = names.get(change.before.subject, change.before.label).replace("\n", " ")
    return f"{_amount_text(cell.estimate, unit)}\nfrom {before}:\n{move_text(change, _VERDICTS[change.verdict])}"


def _amount_text(estimate: Estimate, unit: str) -> str:
    """`541.5 µs ±0.4%`, `46,730 B ±0.0%`, or `2,127,291` of what has no unit."""
    return amount_words(estimate.value, unit) + margin_words(estimate.value, estimate.low, estimate.high)
