"""`kexbench life`: what a library costs before, between and after its handshakes."""

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.answers.life import Life, LifeCase, change_words, life_sentence
from kexbench.answers.subjects import end_of
from kexbench.cli.change_tables import milliseconds
from kexbench.cli.console import err, out, print_json
from kexbench.cli.metric_table import CHANGE_LEGEND, cell_text
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.cli.step_tables import case_text
from kexbench.cli.words import host_text, shared_line
from kexbench.domain.numbers import counted, move_words


def life(
    library: Annotated[
        list[str] | None, typer.Option(help="Only this library; repeatable. Default: all.", show_default=False)
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(help="Every number of these cases, by a pattern of their ids; repeatable.", show_default=False),
    ] = None,
    pool: Annotated[str | None, typer.Option(help="Only this pool.", show_default=False)] = None,
    cpu: Annotated[str | None, typer.Option(help="Only this CPU model.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Show a library's whole life in a process: its start, the age of a context, memory, and shared atomic operations.

    Specs ask for it: `measure: {starts: 20}` and `{age: 100000}`, or with `instrument: atomics` and `allocations`.

    Examples:

        kexbench run life && kexbench life
        kexbench life --library openssl --case '*anchors-144'
        kexbench life --json | jq '.changes[] | {metric, before, after}'
    """
    query = [
        *(("library", each) for each in library or ()),
        *((name, value) for name, value in (("pool", pool), ("cpu_model", cpu)) if value),
    ]
    with reach_api() as api:
        answer = of_cases(api.get(Life, f"/life?{urlencode(query)}"), case or [])
    if as_json:
        print_json(answer.model_dump(mode="json"))
    else:
        _print(answer, shows_numbers=bool(case))
    if not answer.cases:
        raise typer.Exit(1)


def of_cases(answer: Life, patterns: list[str]) -> Life:
    """The answer with the cases that fit a pattern. Raises typer.BadParameter if there are others alone."""
    if not patterns or not answer.cases:
        return answer
    cases = [each for each in answer.cases if any(fnmatchcase(each.case.id, pattern) for pattern in patterns)]
    if not cases:
        known = "\n  ".join(each.case.id for each in answer.cases)
        raise typer.BadParameter(f"no case fits {', '.join(patterns)}; there are\n  {known}")
    names = {each.case.id for each in cases}
    changes = [each for each in answer.changes if each.case.id in names]
    variations = [each for each in answer.variations if {each.usual.id, each.other.id} & names]
    shown = {"cases": cases, "changes": changes, "variations": variations, "sentence": life_sentence(changes)}
    return answer.model_copy(update=shown)


def _print(answer: Life, *, shows_numbers: bool) -> None:
    if answer.host_kind is None or not answer.cases:
        err.print(
            "no start, age, allocation or atomic operation has a number here: kexbench run life measures starts and "
            "ages, and the report of a run says why one failed",
            markup=False,
            soft_wrap=True,
        )
        return
    out.print(host_text(answer.host_kind), style="bold", markup=False)
    if shows_numbers:
        for each in answer.cases:
            out.print(_table(answer, each))
        out.print(CHANGE_LEGEND, style="dim", markup=False)
        return
    for line in (answer.sentence, *_changes(answer), *_variations(answer), *_slopes(answer)):
        out.print(line, markup=False, soft_wrap=True)
    out.print("kexbench life --case '*' shows every number.", style="dim", markup=False)
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


def _changes(answer: Life) -> Iterator[str]:
    """`  Trust anchors: 4,862 → 29,310 µs, +503% [+498%, +510%], OpenSSL 1.1.1w → OpenSSL 3.0.19, TLS 1.3 …`"""
    if answer.changes:
        yield "Largest changes:"
    for each in answer.changes:
        before, after = (end.label for end in each.ends)
        yield f"  {each.title}: {change_words(each)}, {before} → {after}, {each.case.title}"


def _variations(answer: Life) -> Iterator[str]:
    """`  FIPS no → yes: 7.2 [7.1, 7.4] → 91.6 [91.2, 92.3] ms, +1172.2% [+1150.1%, +1190.3%], OpenSSL 3.5.9, …`"""
    labels = {subject.name: end_of(subject).label for subject in answer.subjects}
    if answer.variations:
        yield "What a start costs more with:"
    for each in answer.variations:
        before, after = milliseconds(each.before), milliseconds(each.after)
        move = move_words(each.move.ratio, each.move.low, each.move.high)
        yield f"  {each.what}: {before} → {after} ms, {move}, {labels[each.subject]}, {each.usual.title}"


def _slopes(answer: Life) -> Iterator[str]:
    """`  OpenSSL 3.5.5 grows with age: +4.1 µs [+3.2, +5.0] for each million connections, by 100,000 of them`"""
    labels = [end_of(subject).label for subject in answer.subjects]
    slopes = [
        (label, each, case.case.title)
        for case in answer.cases
        for label, each in zip(labels, case.ageing, strict=True)
        if each
    ]
    if slopes:
        verdicts = Counter(each.growth for _, each, _ in slopes)
        yield f"With age: {', '.join(f'{number} {verdict}' for verdict, number in verdicts.items())}."
    for label, each, title in slopes:
        if each.growth == "grows":
            value, low, high = (ns / 1e3 for ns in (each.slope.value, each.slope.low or 0, each.slope.high or 0))
            yield (
                f"  {label} {each.growth}: {value:+,.1f} µs [{low:+,.1f}, {high:+,.1f}] for each million connections, "
                f"by {each.connections:,} of them, {title}"
            )


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
