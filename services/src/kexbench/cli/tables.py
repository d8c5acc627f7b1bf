"""Tables of results. They show costs as rates: handshakes per CPU-second, both sides together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from rich.table import Table

from kexbench.analysis.reference import MeasuredRatio, MeasuredRow, RatioOrder
from kexbench.answers.cells import Cell, OutcomeView
from kexbench.answers.run import RunDetail
from kexbench.cli.step_tables import NO_RESULT, case_table, case_text, rest_lines
from kexbench.cli.words import are_cut, shared_line
from kexbench.domain.library_commits import version_text
from kexbench.domain.numbers import counted, margin_words
from kexbench.domain.upgrades import Side

CASE_WIDTH, PUBLISHED_WIDTH, RATIO_WIDTH = 22, 12, 20
"""Widths of the widest content, in characters."""
_ORDERS: dict[RatioOrder, str] = {
    "as published": "",
    "opposite": "\nthe other way round",
    "unresolved": "\norder not certain",
}
_Item = TypeVar("_Item")


def outcome_lines(detail: RunDetail) -> list[str]:
    """Why cells have no result: one line for each reason, with the number of its cells and the first of them."""
    titles = {case.id: case.title for case in detail.cases}
    versions = {each.name: f"{each.library} {version_text(each.version, each.commit)}" for each in detail.subjects}
    counts = Counter(versions.values())
    names = {
        each.name: version if counts[version := versions[each.name]] == 1 else f"{version} ({each.source})"
        for each in detail.subjects
    }
    places: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    details: dict[tuple[str, str, str], list[str]] = {}
    for cell in detail.cells:
        for about, outcome in (("", cell.outcome), (", client and server apart", cell.sides_outcome)):
            if outcome:
                why = (about, str(outcome.kind), outcome.reason)
                title = titles[cell.case_id] + _times_text(outcome, cell, detail.measure.invocations)
                places.setdefault(why, []).append((names[cell.subject], title))
                details.setdefault(why, []).append(outcome.detail or "")
    lines = []
    for (about, kind, reason), cells in places.items():
        own = list(dict.fromkeys(filter(None, details[about, kind, reason])))
        more = [f"and {counted(len(own) - 1, 'other detail')}"] if len(own) > 1 else []
        text = ": ".join([kind, reason, *(["; ".join(own[:1] + more)] if own else [])])
        lines.append(shared_line(text, cells, about=about))
    is_cut = any(are_cut(cells) for cells in places.values()) or any(len(set(own)) > 1 for own in details.values())
    return lines + (rest_lines(detail) if is_cut else [])


def _times_text(outcome: OutcomeView, cell: Cell, planned: int) -> str:
    """The number of invocations, if other invocations have a number."""
    if not cell.estimate or cell.estimate.invocations is None:
        return ""
    # Invocations without any number are not in the estimate. Those that lack each side's or an age are.
    without = outcome.invocations if outcome is cell.outcome else 0
    return f" (in {outcome.invocations} of {min(cell.estimate.invocations + without, planned)} invocations)"


def disturbance_lines(detail: RunDetail) -> list[str]:
    """Disturbances that may have changed the numbers."""
    lines = []
    if detail.steal and detail.steal.disturbs:
        lines.append(
            f"The hypervisor gave {detail.steal.share:.1%} of the CPU time to others, which may change the numbers"
        )
    if detail.sibling and detail.sibling.disturbs:
        share = f"{detail.sibling.share:.0%}"
        lines.append(f"The other thread of the measuring core was busy for {share} of the time, which slows handshakes")
    return lines


def reference_tables(detail: RunDetail, width: int) -> list[Table]:
    """Published rates next to each subject's: rate, ratio to the baseline and its interval."""
    assert detail.reference is not None
    titles = {case.id: case.title for case in detail.cases}
    return [
        table
        for published in detail.reference.tables
        for table in _published_tables(
            published.title,
            detail,
            width,
            [
                (case_text(titles[row.case_id]), f"{row.published_rate:,.0f}\n{row.published_ratio:.2f}")
                for row in next(iter(published.rows.values()), ())
            ],
            {subject: list(map(reference_text, rows)) for subject, rows in published.rows.items()},
        )
    ]


def ratio_tables(detail: RunDetail, width: int) -> list[Table]:
    """Published ratios of two cases' rates next to each subject's, with its interval."""
    assert detail.reference is not None
    titles = {case.id: case_text(case.title) for case in detail.cases}
    return [
        table
        for published in detail.reference.ratios
        for table in _published_tables(
            published.title,
            detail,
            width,
            [
                (f"{titles[row.case_id]}\ncompared with\n{titles[row.relative_to]}", f"{row.published_ratio:.2f}")
                for row in next(iter(published.rows.values()), ())
            ],
            {subject: list(map(_ratio_text, rows)) for subject, rows in published.rows.items()},
        )
    ]


def _published_tables(
    title: str, detail: RunDetail, width: int, rows: list[tuple[str, str]], measured: dict[str, list[str]]
) -> list[Table]:
    """As many tables as the subjects need at a width. `rows`: cases and the published figure; `measured`: the figures
    beside them, by subject."""
    names = {subject.name: f"{subject.library}\n{subject.version}" for subject in detail.subjects}
    tables = []
    for subjects in groups_of(list(measured), (width - CASE_WIDTH - PUBLISHED_WIDTH) // RATIO_WIDTH):
        table = case_table(title, ())
        table.add_column("published\n(ratio)", justify="right")
        for subject in subjects:
            table.add_column(names[subject], justify="right", no_wrap=True)
        for place, (cases, published) in enumerate(rows):
            table.add_row(cases, published, *(measured[subject][place] for subject in subjects))
        tables.append(table)
    return tables


def _ratio_text(row: MeasuredRatio) -> str:
    """`2.71 [2.65, 2.77]`, and below it whether the order is another."""
    if row.ratio is None:
        return NO_RESULT
    text = f"{row.ratio.ratio:.2f} [{row.ratio.low:.2f}, {row.ratio.high:.2f}]"
    return text + _ORDERS[row.order] if row.order else text


def reference_text(row: MeasuredRow) -> str:
    """`1,903 ±0.4%` over `0.55 [0.54, 0.56]`."""
    if row.rate is None:
        return NO_RESULT
    rate, ratio = row.rate, row.ratio
    text = f"{rate.value:,.0f}{margin_words(rate.value, rate.low, rate.high)}"
    if ratio is not None:
        text += f"\n{ratio.ratio:.2f}" + (f" [{ratio.low:.2f}, {ratio.high:.2f}]" if ratio.low < ratio.high else "")
    return text


def swap_lines(detail: RunDetail) -> list[str]:
    """A sentence for each pair of rows whose measured order differs from the published one."""
    assert detail.reference is not None
    titles = {case.id: case.title for case in detail.cases}
    names = {subject.name: f"{subject.library} {subject.version}" for subject in detail.subjects}
    lines = [
        f"{names[subject]}: {titles[swap.faster_here]} is {swap.ratio.ratio:.2f} times as fast as "
        f"{titles[swap.slower_here]}, contrary to the published order: it costs "
        f"{costs_text(swap.faster_cpu_ns)} compared with {costs_text(swap.slower_cpu_ns)}"
        for table in detail.reference.tables
        for subject, swaps in table.swaps.items()
        for swap in swaps
    ]
    return list(dict.fromkeys(lines))


def costs_text(costs_ns: Mapping[Side, float] | None) -> str:
    """`412 µs (client 204, server 208)`."""
    if costs_ns is None:
        return "an unknown amount (no separate numbers of client and server)"
    client, server = costs_ns["client"] / 1000, costs_ns["server"] / 1000
    return f"{client + server:,.0f} µs (client {client:,.0f}, server {server:,.0f})"


def groups_of(items: Sequence[_Item], size: int) -> list[Sequence[_Item]]:
    step = max(1, size)
    return [items[start : start + step] for start in range(0, len(items), step)]
