"""`kexbench stacks`: which library costs a server least."""

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.answers.stacks_shapes import RANKED, Ranked, StackCell, Stacks, Standing
from kexbench.answers.stacks_words import column_label
from kexbench.answers.stacks_workload import DEFAULT_RESUMED_PERCENT
from kexbench.cli.console import err, out, print_json
from kexbench.cli.narrowing import Cpu, Libraries, Pool, narrowed, no_such
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.cli.step_tables import case_text, move_text
from kexbench.cli.words import host_text, shared_line
from kexbench.domain.intervals import Estimate
from kexbench.domain.numbers import move_words
from kexbench.domain.upgrades import VERDICT_WORDS

LEGEND = (
    "CPU time of the server for a handshake, or for the connection if it has data, in µs [95% confidence interval]; "
    "relative to another one in the same run; heap that an open connection holds; bytes sent. "
    "Sockets, the kernel and the application come on top."
)
_STANDINGS: dict[Standing, str] = {"cheapest": "cheapest", "equal": "not told apart", "more": ""}


def stacks(
    version: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIBRARY@VERSION",
            help="Show this version instead of the newest of its library; repeatable.",
            show_default=False,
        ),
    ] = None,
    library: Libraries = None,
    certificate: Annotated[
        str | None,
        typer.Option(help="Certificate of the mix, such as ECDSA-P256. Default: the first.", show_default=False),
    ] = None,
    resumed: Annotated[
        int, typer.Option(min=0, max=100, metavar="PERCENT", help="Share of resumed connections in the mix.")
    ] = DEFAULT_RESUMED_PERCENT,
    protocol: Annotated[
        Literal["TLSv1.2", "TLSv1.3"] | None,
        typer.Option(help="Default: TLSv1.3 if it was measured.", show_default=False),
    ] = None,
    pool: Pool = None,
    cpu: Cpu = None,
    as_json: AsJson = False,
) -> None:
    """Show which library costs a server least, for each kind of connection and for a mix of full and resumed ones.

    Shows stored results of the newest version of each library, on the machine kind with most libraries. Only libraries
    that did the same work in the same run are ranked. Several are not told apart if no difference is significant.

    Examples:

        kexbench run stacks && kexbench stacks
        kexbench stacks --certificate ECDSA-P256 --resumed 40
        kexbench stacks --protocol TLSv1.2 --version openssl@3.0
        kexbench stacks --json | jq -r '.workload.sentence'
    """
    narrow = narrowed(library, pool, cpu)
    query = [
        *(("version", each) for each in version or ()),
        *((name, value) for name, value in (("certificate", certificate), ("protocol", protocol)) if value),
        ("resumed", str(resumed)),
    ]
    with reach_api() as api:
        answer = api.get(Stacks, f"/stacks?{urlencode([*query, *narrow])}")
        if narrow and not answer.columns and (every := api.get(Stacks, f"/stacks?{urlencode(query)}")).columns:
            raise no_such((stack.subject.library for stack in every.stacks), every.host_kind)
    if as_json:
        print_json(answer.model_dump(mode="json"))
    else:
        _print(answer)
    if not any(cell.standing in RANKED for column in answer.columns for cell in column.cells):
        raise typer.Exit(1)


def _print(answer: Stacks) -> None:
    if answer.host_kind is None or not answer.columns:
        err.print("no library was measured in such a case: kexbench run stacks", markup=False)
        return
    out.print(host_text(answer.host_kind), style="bold", markup=False)
    for sentence in (answer.workload.sentence if answer.workload else "", answer.sentence):
        if sentence:
            out.print(sentence, markup=False, soft_wrap=True)
    out.print(_table(answer))
    out.print(LEGEND, style="dim", markup=False)
    out.print(f"Runs: {', '.join(_runs(answer))}", style="dim", markup=False)
    if _has_changes(answer):
        out.print("Server CPU time, relative to the previous version", style="bold")
        out.print(_changes(answer))
    if answer.why:
        out.print("Why two of one ancestry differ, function by function:", style="bold")
        out.print("\n".join(answer.why), markup=False, soft_wrap=True)
    for line in _reasons(answer):
        err.print(line, markup=False, soft_wrap=True)


def _runs(answer: Stacks) -> list[str]:
    """Those of the numbers, with the day of the newest."""
    cells = [cell for column in answer.columns for cell in column.cells if cell.cpu_ns]
    days = {cell.run_id: f"{cell.measured_at:%Y-%m-%d}" for cell in cells}
    return [f"{run_id} ({day})" for run_id, day in sorted(days.items(), key=lambda each: each[1], reverse=True)]


def _empty_table(answer: Stacks) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(f"{answer.protocol.replace('v', ' ')}", overflow="fold", min_width=14)
    return table


def _table(answer: Stacks) -> Table:
    """A column for each stack: a terminal is narrower than a page, and there are more kinds than stacks."""
    table = _empty_table(answer)
    labels = _labels(answer)
    for stack in answer.stacks:
        table.add_column(Text(stack.end.label.replace(" ", "\n", 1)), justify="right", overflow="fold")
    if answer.workload:
        mix = f"Mix\n{answer.workload.certificate}, {answer.workload.resumed_percent}% resumed"
        cells = [_cell_text(cost, cost.cpu_ns, [], labels) for cost in answer.workload.costs]
        table.add_row(mix, *map(Text, cells), end_section=True)
    for column in answer.columns:
        table.add_row(case_text(column_label(column)), *(Text(_cell(cell, labels)) for cell in column.cells))
    return table


def _labels(answer: Stacks) -> dict[str, str]:
    return {stack.subject.name: stack.end.label for stack in answer.stacks}


def _cell(cell: StackCell, labels: Mapping[str, str]) -> str:
    sizes = [
        f"+ {cell.background_cpu_ns.value / 1e3:,.4g} own threads"
        if cell.background_cpu_ns and cell.has_own_threads
        else "",
        f"{cell.held_bytes.value:,.0f} B held" if cell.held_bytes else "",
        f"{cell.sent_bytes.value:,.0f} B sent" if cell.sent_bytes else "",
        f"{cell.scaling.value:.2f}× one thread" if cell.scaling else "",
    ]
    return _cell_text(cell, cell.cpu_ns, sizes, labels)


def _cell_text(ranked: Ranked, cost: Estimate | None, further: list[str], labels: Mapping[str, str]) -> str:
    if cost is None:
        return "no number"
    interval = "" if cost.low is None or cost.high is None else f"[{cost.low / 1e3:,.4g}, {cost.high / 1e3:,.4g}]"
    standing = _STANDINGS.get(ranked.standing, "not ranked")
    relative = ""
    if ranked.ratio:
        relative = move_words(ranked.ratio.ratio, ranked.ratio.low, ranked.ratio.high).replace(" [", "\n[")
        relative += f"\nvs {labels[ranked.against]}" if ranked.against else ""
        relative = "\n".join([relative, *ranked.caveats])
    return "\n".join(filter(None, [f"{cost.value / 1e3:,.4g}", interval, standing, relative, *further]))


def _has_changes(answer: Stacks) -> bool:
    return any(cell.change for column in answer.columns for cell in column.cells)


def _changes(answer: Stacks) -> Table:
    """The newest version of each library against its previous one."""
    table = _empty_table(answer)
    shown = [place for place, stack in enumerate(answer.stacks) if stack.previous]
    for place in shown:
        stack = answer.stacks[place]
        before = stack.previous.version if stack.previous else ""
        table.add_column(Text(f"{stack.end.label}\nfrom {before}"), justify="right", overflow="fold")
    for column in answer.columns:
        changes = [column.cells[place].change for place in shown]
        if any(changes):
            texts = [move_text(each, VERDICT_WORDS[each.verdict]) if each else "not compared" for each in changes]
            table.add_row(case_text(column_label(column)), *map(Text, texts))
    return table


def _reasons(answer: Stacks) -> list[str]:
    """Why cells have no rank: a line for each reason."""
    labels = _labels(answer)
    places: dict[str, list[tuple[str, str]]] = {}
    for column in answer.columns:
        for cell in column.cells:
            if cell.reason:
                kind = f"{cell.outcome}: " if cell.outcome and cell.standing == "missing" else ""
                places.setdefault(kind + cell.reason, []).append((labels[cell.subject], column_label(column)))
    return [shared_line(reason, cells) for reason, cells in places.items()]
