"""`kexbench paths`: what a user waits for, measured and predicted."""

from typing import Annotated
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.answers.paths_shapes import PathCell, Paths, Percentiles
from kexbench.answers.subjects import end_of
from kexbench.cli.change_tables import milliseconds
from kexbench.cli.console import err, out, print_json
from kexbench.cli.narrowing import Cpu, Libraries, Pool, narrowed, no_such
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.cli.step_tables import NO_RESULT, case_text
from kexbench.cli.words import host_text, shared_line
from kexbench.domain.intervals import Estimate
from kexbench.domain.numbers import counted
from kexbench.domain.paths import parse_path

LEGEND = (
    "Milliseconds from the beginning of a connection until the client's handshake is done: the median [95% confidence "
    "interval], the 95th and the 99th percentile. Computing: the median time that both sides compute. Round trips: "
    "TCP's own, and those before the request may be sent."
)


def _known(path: str | None) -> str | None:
    if path:
        try:
            parse_path(path)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return path


def paths(
    library: Libraries = None,
    path: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Only this path, such as continent.", callback=_known, show_default=False),
    ] = None,
    pool: Pool = None,
    cpu: Cpu = None,
    as_json: AsJson = False,
) -> None:
    """Show what a user waits for over emulated paths: times, and round trips as measured and as predicted.

    Specs name paths in their matrix. The prediction follows from the sizes of the flights, without loss.

    Examples:

        kexbench run paths && kexbench paths
        kexbench paths --path continent --library openssl
        kexbench paths --json | jq '.cases[].cells[].predicted.steps[].text'
    """
    query = narrowed(library, pool, cpu)
    of_path = [("path", path)] if path else []
    with reach_api() as api:
        answer = api.get(Paths, f"/paths?{urlencode([*query, *of_path])}")
        if query and not answer.cases and (every := api.get(Paths, f"/paths?{urlencode(of_path)}")).cases:
            raise no_such((subject.library for subject in every.subjects), every.host_kind)
    if as_json:
        print_json(answer.model_dump(mode="json"))
    else:
        _print(answer, path)
    if not any(cell.handshake for case in answer.cases for cell in case.cells):
        raise typer.Exit(1)


def _print(answer: Paths, path: str | None) -> None:
    if answer.host_kind is None or not answer.cases:
        there = f"over {path}; `kexbench paths` shows all that were" if path else "over a path: kexbench run paths"
        err.print(f"no case was measured {there}", markup=False)
        return
    out.print(host_text(answer.host_kind), style="bold", markup=False)
    if answer.sentence:
        out.print(answer.sentence, markup=False, soft_wrap=True)
    out.print(_table(answer))
    out.print(LEGEND, style="dim", markup=False)
    for line in (*_steps(answer), *_emulated(answer)):
        out.print(line, markup=False, soft_wrap=True)
    for line in _reasons(answer):
        err.print(line, markup=False, soft_wrap=True)


def _table(answer: Paths) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("case, path", overflow="fold", min_width=14)
    for subject in answer.subjects:
        table.add_column(Text(end_of(subject).label.replace(" ", "\n", 1)), justify="right", overflow="fold")
    titles = [case.title for case in answer.cases]
    for place, case in enumerate(answer.cases):
        if place == 0 or titles[place - 1] != case.title:
            table.add_row(Text(case_text(case.title), style="bold"))
        name = f"{case.path.title}, {case.path.words}" if case.path.title else case.path.words
        is_last = place + 1 == len(titles) or titles[place + 1] != case.title
        table.add_row(Text(name), *(Text(_cell(cell)) for cell in case.cells), end_section=is_last)
    return table


def _cell(cell: PathCell) -> str:
    if cell.handshake is None:
        return str(cell.outcome.kind) if cell.outcome else NO_RESULT
    return "\n".join(filter(None, [*_times(cell.handshake), _computing(cell), _round_trips(cell)]))


def _tails(times: Percentiles) -> tuple[tuple[str, Estimate], ...]:
    return ("95%", times.p95), ("99%", times.p99)


def _times(times: Percentiles) -> list[str]:
    return [milliseconds(times.p50), *(f"{share}: {milliseconds(each)}" for share, each in _tails(times))]


def _computing(cell: PathCell) -> str:
    return "" if cell.computing_ns is None else f"{cell.computing_ns / 1e6:.4g} computing"


def _round_trips(cell: PathCell) -> str:
    """`1 + 1 round trips` where both agree; else what was measured, and what is predicted."""
    found = cell.predicted
    if found is None:
        return f"{cell.round_trips.value:g} round trips" if cell.round_trips else ""
    if cell.agreement == "as predicted" or cell.round_trips is None:
        return f"{found.connecting} + {found.before_request} round trips{'' if cell.round_trips else ', predicted'}"
    return f"{found.connecting} + {cell.round_trips.value:.3g} round trips, predicted {found.before_request}"


def _steps(answer: Paths) -> list[str]:
    """What makes a handshake longer than its exchanges, a line for each cause."""
    labels = {subject.name: end_of(subject).label for subject in answer.subjects}
    places: dict[str, list[tuple[str, str]]] = {}
    for case in answer.cases:
        for cell in case.cells:
            for step in cell.predicted.steps if cell.predicted else ():
                if step.is_further:
                    title = f"{case.title}, path {case.path.text}"
                    places.setdefault(step.text, []).append((labels[cell.subject], title))
    return [shared_line(text, cells) for text, cells in places.items()]


def _emulated(answer: Paths) -> list[str]:
    """What each path did, beside what was asked: a line a path, with what differs between its cells."""
    texts: dict[str, dict[str, None]] = {}
    for case in answer.cases:
        of_path = [cell.emulated.text for cell in case.cells if cell.emulated]
        texts.setdefault(case.path.text, {}).update(dict.fromkeys(filter(None, of_path)))
    return [f"path {path} as emulated: {'; '.join(of_path)}" for path, of_path in texts.items() if of_path]


def _reasons(answer: Paths) -> list[str]:
    """Why cells have no number, or another one than predicted: a line for each reason."""
    labels = {subject.name: end_of(subject).label for subject in answer.subjects}
    places: dict[str, list[tuple[str, str]]] = {}
    for case in answer.cases:
        for cell in case.cells:
            place = (labels[cell.subject], f"{case.title}, path {case.path.text}")
            if cell.agreement == "differs" and cell.reason:
                places.setdefault(cell.reason, []).append(place)
            if cell.outcome:
                times = f" (in {counted(cell.outcome.invocations, 'invocation')})" if cell.handshake else ""
                places.setdefault(f"{cell.outcome.kind}: {cell.outcome.reason}{times}", []).append(place)
    return [shared_line(reason, cells) for reason, cells in places.items()]
