"""`kexbench life`: what a library costs before, between and after its handshakes."""

import shlex
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from kexbench.analysis.estimates import MIN_MEDIAN_INVOCATIONS
from kexbench.answers.life import Life, LifeCase, change_words, life_sentence
from kexbench.answers.subjects import end_of
from kexbench.cli.change_tables import milliseconds
from kexbench.cli.console import err, out, print_json
from kexbench.cli.metric_table import CHANGE_LEGEND, cell_text
from kexbench.cli.narrowing import Cpu, Libraries, Pool, narrowed, no_such
from kexbench.cli.options import AsJson
from kexbench.cli.reaching import reach_api
from kexbench.cli.step_tables import case_text
from kexbench.cli.words import host_text, shared_line
from kexbench.domain.ages import Ageing
from kexbench.domain.metrics import Metric, MetricGroup
from kexbench.domain.numbers import amount_words, counted, margin_words, move_words

FEW = 6
"""So many slopes are shown each; of more, those that grow."""
NO_NUMBER = "not measured"


def life(
    library: Libraries = None,
    case: Annotated[
        list[str] | None,
        typer.Option(help="Every number of these cases, by a pattern of their ids; repeatable.", show_default=False),
    ] = None,
    pool: Pool = None,
    cpu: Cpu = None,
    as_json: AsJson = False,
) -> None:
    """Show a library's whole life in a process: its start, the age of a context, memory, and shared atomic operations.

    Specs ask for it: `measure: {starts: 20}` and `{age: 100000}`, or with `instrument: atomics` and `allocations`.

    Examples:

        kexbench run life && kexbench life
        kexbench life --library openssl --case '*anchors-144'
        kexbench life --json | jq '.changes[] | {metric, before, after}'
    """
    query = narrowed(library, pool, cpu)
    with reach_api() as api:
        answer = api.get(Life, f"/life?{urlencode(query)}")
        if query and not answer.cases and (every := api.get(Life, "/life")).cases:
            raise no_such((subject.library for subject in every.subjects), every.host_kind)
    answer = of_cases(answer, case or [])
    if as_json:
        print_json(answer.model_dump(mode="json"))
    elif case and answer.cases:
        _print_numbers(answer)
    else:
        words = [*(word for each in library or () for word in ("--library", each))]
        words += [word for option, value in (("--pool", pool), ("--cpu", cpu)) if value for word in (option, value)]
        _print(answer, shlex.join(["kexbench", "life", *words, "--case", "*"]))
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


def _print(answer: Life, every_number: str) -> None:
    """`every_number`: the command that shows it."""
    if answer.host_kind is None or not answer.cases:
        err.print(
            "no start, age, allocation or atomic operation has a number here: kexbench run life measures starts and "
            "ages, and the report of a run says why one failed",
            markup=False,
            soft_wrap=True,
        )
        return
    out.print(host_text(answer.host_kind), style="bold", markup=False, soft_wrap=True)
    parts = (answer.sentence, *_changes(answer), *_variations(answer), *_starts(answer), *_slopes(answer))
    lines = [line for line in parts if line]
    for line in lines or ["nothing stands out"]:
        out.print(line, markup=False, soft_wrap=True)
    for line in _legend(answer) if lines else ():
        out.print(line, style="dim", markup=False, soft_wrap=True)
    out.print(f"{every_number} shows every number.", style="dim", markup=False, soft_wrap=True)
    for line in _reasons(answer):
        err.print(line, markup=False, soft_wrap=True)


def _print_numbers(answer: Life) -> None:
    if answer.host_kind:
        out.print(host_text(answer.host_kind), style="bold", markup=False, soft_wrap=True)
    for each in answer.cases:
        out.print(_table(answer, each))
    for line in _legend(answer):
        out.print(line, style="dim", markup=False, soft_wrap=True)
    for line in _reasons(answer):
        err.print(line, markup=False, soft_wrap=True)


def _legend(answer: Life) -> Iterator[str]:
    """What the signs of these numbers mean; nothing of what none has."""
    lines = [line for case in answer.cases for section in case.sections for line in section.lines]
    cells = [cell for line in lines for cell in line.cells if cell]
    estimates = [cell.estimate for cell in cells if cell.estimate]
    yield "Medians of the invocations; ± is half of their 95% interval."
    if any(estimate.low is None for estimate in estimates):
        yield f"Without ±: fewer than {MIN_MEDIAN_INVOCATIONS} invocations, too few for an interval."
    if any(cell.change for cell in cells):
        yield CHANGE_LEGEND


def _table(answer: Life, case: LifeCase) -> Table:
    table = Table(title=case_text(case.case.title), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("metric", overflow="fold", min_width=14)
    labels = {subject.name: end_of(subject).label for subject in answer.subjects}
    for label in labels.values():
        table.add_column(Text(label.replace(" ", "\n", 1)), justify="right", overflow="fold")
    for section in case.sections:
        table.add_row(Text(section.group, style="bold"))
        if section.group is MetricGroup.AGE and any(case.ageing):
            slopes = (f"{_slope_text(each)}, {each.growth}" if each else NO_NUMBER for each in case.ageing)
            table.add_row(Text("CPU time that a million connections add to each later one"), *map(Text, slopes))
        for place, line in enumerate(section.lines, start=1):
            texts = (cell_text(cell, line.metric.unit, labels) or NO_NUMBER for cell in line.cells)
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


def _starts(answer: Life) -> Iterator[str]:
    """`  TLS 1.3 …: OpenSSL 3.0.22 9,882 µs ±0.4%, GnuTLS 3.7.9 5,554 µs ±0.3%`"""
    labels = [end_of(subject).label for subject in answer.subjects]
    lines = [
        (case.case.title, line)
        for case in answer.cases
        for section in case.sections
        for line in section.lines
        if line.metric is Metric.START_CPU_NS
    ]
    if lines:
        yield "CPU time of a process's start, until its first handshake is done:"
    for title, line in lines:
        numbers = [
            f"{label} {amount_words(median.value, line.metric.unit)}"
            f"{margin_words(median.value, median.low, median.high)}"
            for label, cell in zip(labels, line.cells, strict=True)
            if cell and (median := cell.estimate)
        ]
        if numbers:
            yield f"  {title}: {', '.join(numbers)}"


def _slopes(answer: Life) -> Iterator[str]:
    """`  OpenSSL 3.5.5: +4.1 µs [+3.2, +5.0] for each million connections, by 100,000 of them, grows, TLS 1.3 …`"""
    labels = [end_of(subject).label for subject in answer.subjects]
    slopes = [
        (label, each, case.case.title)
        for case in answer.cases
        for label, each in zip(labels, case.ageing, strict=True)
        if each
    ]
    if slopes:
        verdicts = Counter(each.growth for _, each, _ in slopes)
        yield f"CPU time of a connection with age: {', '.join(f'{n} {verdict}' for verdict, n in verdicts.items())}."
    for label, each, title in slopes:
        if each.growth == "grows" or len(slopes) <= FEW:
            yield (
                f"  {label}: {_slope_text(each)} for each million connections, by {each.connections:,} of them, "
                f"{each.growth}, {title}"
            )


def _slope_text(ageing: Ageing) -> str:
    value, low, high = (ns / 1e3 for ns in (ageing.slope.value, ageing.slope.low or 0, ageing.slope.high or 0))
    return f"{value:+,.1f} µs [{low:+,.1f}, {high:+,.1f}]".replace("-", "−")


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
