"""The stacks of a machine kind in sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence

from kexbench.answers.stacks_columns import Work
from kexbench.answers.stacks_shapes import StackColumn, Standing, WorkloadCost
from kexbench.domain.intervals import Estimate
from kexbench.domain.numbers import counted, size_words

_RESUMED = {
    "session-id": "session id",
    "ticket": "ticket",
    "psk": "PSK",
    "psk-dhe": "PSK and key share",
}


def column_title(work: Work) -> str:
    if work.kind == "resumed":
        return _RESUMED[work.name]
    if work.kind == "verified":
        return f"chain of {work.name}"
    return counted(int(work.name), "thread") if work.kind == "threads" else work.name


def column_label(column: StackColumn) -> str:
    """`Full handshake, ECDSA P-256`."""
    return f"{column.heading}, {column.title}"


def stacks_sentence(labels: Mapping[str, str], columns: Sequence[StackColumn]) -> str:
    """`Cheapest for a server: AWS-LC 5.12.0 in 8 of 11 kinds of connections, OpenSSL 3.5.7 in 2. In 1, several are not
    told apart.`"""
    if not columns:
        return ""
    standings = [[(cell.standing, cell.subject) for cell in column.cells] for column in columns]
    wins = Counter(name for column in standings for standing, name in column if standing == "cheapest")
    ties = sum(any(standing == "equal" for standing, _ in column) for column in standings)
    ranked = wins.total() + ties
    if not ranked:
        return "No two stacks can be compared: measure them in one run."
    kinds = f"{counted(ranked, 'kind')} of connections"
    if not wins:
        return f"None is the cheapest alone: in {kinds}, several are not told apart.{_unranked(labels, standings)}"
    (first, most), *others = wins.most_common()
    names = [f"{labels[first]} in {most} of {kinds}", *(f"{labels[name]} in {count}" for name, count in others)]
    equal = f" In {ties}, several are not told apart." if ties else ""
    return f"Cheapest for a server: {', '.join(names)}.{equal}{_unranked(labels, standings)}"


def _unranked(labels: Mapping[str, str], standings: Sequence[Sequence[tuple[Standing, str]]]) -> str:
    """A library that did other work may cost less, so that it is there has to be said."""
    unranked = Counter(
        name for column in standings for standing, name in column if standing in ("other work", "not compared")
    )
    return "".join(f" {labels[name]} is not ranked in {count}." for name, count in unranked.most_common())


def workload_sentence(
    labels: Mapping[str, str], certificate: str, resumed_percent: int, costs: Sequence[WorkloadCost]
) -> str:
    """`With ECDSA P-256 and 40% of connections resumed, AWS-LC 5.12.0 is the cheapest for a server: 61.2 µs [60.9,
    61.5] a connection, 25.3% [24.8%, 25.9%] less than OpenSSL 3.5.7.`"""
    mix = f"With {certificate} and {resumed_percent}% of connections resumed"
    first = [cost for cost in costs if cost.standing in ("cheapest", "equal") and cost.cpu_ns]
    if not first:
        return f"{mix}, no two stacks can be compared."
    costs_of = {labels[cost.subject]: _microseconds(cost.cpu_ns) for cost in first if cost.cpu_ns}
    if len(first) > 1:
        named = "; ".join(f"{label}: {amount}" for label, amount in costs_of.items())
        return f"{mix}, the lowest costs for a server are not told apart: {named}."
    (only,) = first
    ((label, amount),) = costs_of.items()
    assert only.ratio is not None
    less = size_words(only.ratio.ratio, only.ratio.low, only.ratio.high)
    return f"{mix}, {label} is the cheapest for a server: {amount}, {less} less than {labels[only.against or '']}."


def _microseconds(cost: Estimate) -> str:
    interval = "" if cost.low is None or cost.high is None else f" [{cost.low / 1e3:,.4g}, {cost.high / 1e3:,.4g}]"
    return f"{cost.value / 1e3:,.4g} µs{interval} of CPU time a connection"
