"""`kexbench life`: what a library costs before, between and after its handshakes."""

from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.answers.life import Life, LifeCase, LifeChange
from kexbench.answers.subjects import end_of
from kexbench.cli.console import err, out, print_json
from kexbench.cli.metric_table import CHANGE_LEGEND, cell_text
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.cli.step_tables import case_text
from kexbench.cli.words import host_text, shared_line
from kexbench.domain.numbers import amounts_words, counted


def life(
    library: Annotated[
        list[str] | None, typer.Option(help="Only this library; repeatable. Default: all.", show_default=False)
    ] = None,
    pool: Annotated[str | None, typer.Option(help="Only this pool.", show_default=False)] = None,
    cpu: Annotated[str | None, typer.Option(help="Only this CPU model.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Show a library's whole life in a process: its start, the age of a context, memory, and shared atomic operations.

    Specs ask for it: `measure: {starts: 20}` and `{age: 100000}`, or with `instrument: atomics` and `allocations`.

    Examples:

        kexbench run life && kexbench life
        kexbench life --library openssl
        kexbench life --json | jq '.changes[] | {metric, ratio: .cell.change.ratio}'
    """
    query = [
        *(("library", each) for each in library or ()),
        *((name, value) for name, value in (("pool", pool), ("cpu_model", cpu)) if value),
    ]
    with reach_api() as api:
        answer = api.get(Life, f"/life?{urlencode(query)}")
    if as_json:
        print_json(answer.model_dump(mode="json"))
    else:
        _print(answer)
    if not answer.cases:
        raise typer.Exit(1)


def _print(answer: Life) -> None:
    if answer.host_kind is None or not answer.cases:
        err.print("no start, age or shared atomic operation was measured: kexbench run life", markup=False)
        return
    out.print(host_text(answer.host_kind), style="bold", markup=False)
    if answer.sentence:
        out.print(answer.sentence, markup=False, soft_wrap=True)
    for case in answer.cases:
        out.print(_table(answer, case))
    if answer.changes:
        out.print(CHANGE_LEGEND, style="dim", markup=False)
        out.print("Largest changes:", style="bold")
    for change in answer.changes:
        out.print(_change(change), markup=False, soft_wrap=True)
    for line in _reasons(answer):
        err.print(line, markup=False, soft_wrap=True)


def _table(answer: Life, case: LifeCase) -> Table:
    table = Table(title=case_text(case.case.title), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("metric", overflow="fold", min_width=14)
    labels = {subject.name: end_of(subject).label for subject in answer.subjects}
    for label in labels.values():
        table.add_column(Text(label.replace(" ", "\n", 1)), justify="right", overflow="fold")
    for section in case.sections:
        table.add_row(Text(section.group, style="bold"))
        for place, line in enumerate(section.lines, start=1):
            texts = (cell_text(cell, line.metric.unit, labels) for cell in line.cells)
            table.add_row(Text(line.title), *map(Text, texts), end_section=place == len(section.lines))
    return table


def _change(change: LifeChange) -> str:
    """`Trust anchors of a start: 4,862 → 29,310 µs (+503%), OpenSSL 1.1.1w → OpenSSL 3.0.19, TLS 1.3 …`"""
    found, after = change.cell.change, change.cell.estimate
    assert found is not None
    assert after is not None
    amounts = amounts_words(change.before, after.value, change.metric.unit)
    ends = f"{found.before.label} → {found.after.label}"
    interval = f"{found.low - 1:+.1%} to {found.high - 1:+.1%}"
    return f"  {change.title}: {amounts}, {interval}, {ends}, {change.case.title}"


def _reasons(answer: Life) -> Iterator[str]:
    """Why cells have no number: a line for each reason."""
    labels = {subject.name: end_of(subject).label for subject in answer.subjects}
    places: dict[str, dict[tuple[str, str], None]] = {}
    for case in answer.cases:
        cells = (cell for section in case.sections for line in section.lines for cell in line.cells)
        for cell in cells:
            if cell and cell.outcome:
                times = f" (in {counted(cell.outcome.invocations, 'invocation')})" if cell.estimate else ""
                reason = f"{cell.outcome.kind}: {cell.outcome.reason}{times}"
                places.setdefault(reason, {})[labels[cell.subject], case.case.title] = None
    for reason, cells_of in places.items():
        yield shared_line(reason, list(cells_of))
