"""`python -m bench.articles`: write the figures of the newest run of each article's spec to docs/results/articles.md.

Exit status 1 if an article has no finished run in the store; nothing is written then.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

from bench.published_times import published_times
from bench.tables import markdown_table
from kexbench.analysis.estimates import compare, estimate_median
from kexbench.analysis.rounds import Batches, values_of
from kexbench.answers.articles import ArticleRun, ArticleView, articles
from kexbench.answers.reference import ReferenceRatiosView, ReferenceTableView
from kexbench.answers.security import handshakes_of
from kexbench.domain.cases import DIMENSIONS, Case
from kexbench.domain.dimensions import NOTHING
from kexbench.domain.intervals import Ratio
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.numbers import move_words
from kexbench.domain.samples import Metric
from kexbench.domain.security import SecurityModel
from kexbench.domain.subjects import Subject
from kexbench.files import write_whole
from kexbench.settings import Settings
from kexbench.store.port import SampleStore, Selection
from kexbench.wiring import Installation

PAGE = Path(__file__).parents[2] / "docs/results/articles.md"
HEAD = """\
# Figures of the articles

`make articles` writes this page. [The articles, measured again](../understand/articles.md) explains what holds, what
differs, and why.

Unless a table says otherwise, a rate is the number of handshakes per CPU-second of client and server together, and a
ratio is one rate divided by another: 2 is twice as fast. Brackets hold 95% confidence intervals. *The other way* marks
an order that is proven to be opposite to the published one, *undecided* one that the measurement does not decide."""
ORDERS = {"as published": "", "opposite": ", **the other way**", "unresolved": ", undecided", None: ""}
"""What is said beside a ratio of the order of its two cases."""

_Costs = dict[Case, dict[str, dict[str, tuple[float]]]]
"""The cost of each invocation in nanoseconds, by case and subject."""


class Figures:
    """The newest finished run of an article's spec, and its samples."""

    def __init__(self, store: SampleStore, run: ArticleRun) -> None:
        self.store = store
        self.run = run
        self.titles = {each.name: _title(each) for each in run.subjects}

    def costs(self, metric: Metric) -> _Costs:
        """In the order of the spec."""
        kind = self.run.host_kind
        costs: _Costs = {}
        for row in self.store.samples(Selection(metric, kind.pool, kind.cpu_model, run_id=self.run.run_id)):
            costs.setdefault(row.case, {}).setdefault(row.subject.name, {})[row.unit] = (row.level,)
        order = [case.case_id for case in self.run.cases]
        return dict(sorted(costs.items(), key=lambda cell: order.index(cell[0].case_id)))

    def measured(self) -> str:
        """When and where."""
        return f"Measured on {self.run.measured_at:%Y-%m-%d}, {self.run.host_kind.cpu_model}."


def _title(subject: Subject) -> str:
    return f"{LIBRARIES[subject.library].title} {subject.version}"


def rates(figures: Figures) -> Iterator[str]:
    """Published tables of rates: each row's rate relative to the table's baseline."""
    assert figures.run.reference is not None
    for table in figures.run.reference.tables:
        yield f"**{table.title}**"
        yield _rates_table(figures, table)
        yield from _swapped(figures, table)


def _rates_table(figures: Figures, table: ReferenceTableView) -> str:
    cases = {case.case_id: case for case in figures.run.cases}
    rows = []
    for place, first in enumerate(next(iter(table.rows.values()))):
        cells = []
        for measured in table.rows.values():
            row = measured[place]
            rate = "" if row.rate is None else f"{row.rate.value:,.0f}/s"
            is_baseline = row.case_id == table.baseline
            cells.append(rate if is_baseline or not row.ratio else f"{rate}, {_interval(row.ratio)}")
        published = f"{first.published_rate:,.2f}/s, {first.published_ratio:.2f}"
        rows.append([cases[first.case_id].key_exchange, published, *cells])
    header = ("key exchange", "published", *(figures.titles[subject] for subject in table.rows))
    return markdown_table(header, rows)


def _swapped(figures: Figures, table: ReferenceTableView) -> Iterator[str]:
    cases = {case.case_id: case for case in figures.run.cases}
    lines = [
        f"- {figures.titles[subject]}: {cases[swap.faster_here].key_exchange} is "
        f"{swap.ratio.ratio:.2f} times as fast as {cases[swap.slower_here].key_exchange}; published, it is the slower "
        "one."
        for subject, swaps in table.swaps.items()
        for swap in swaps
    ]
    if lines:
        yield "\n".join(lines)
    else:
        yield "All orders are as published."


def ratios(figures: Figures) -> Iterator[str]:
    """Published ratios of two cases."""
    assert figures.run.reference is not None
    for published in figures.run.reference.ratios:
        yield f"**{published.title}**"
        yield _ratios_table(figures, published)


def _ratios_table(figures: Figures, published: ReferenceRatiosView) -> str:
    cases = {case.case_id: case for case in figures.run.cases}
    rows = []
    for place, first in enumerate(next(iter(published.rows.values()))):
        cells = []
        for measured in published.rows.values():
            row = measured[place]
            cells.append("not measured" if row.ratio is None else f"{_interval(row.ratio)}{ORDERS[row.order]}")
        case, other = (_short(cases[each].title) for each in (first.case_id, first.relative_to))
        rows.append([f"{case} to {other}", f"{first.published_ratio:g}", *cells])
    header = ("rate of", "published", *(figures.titles[subject] for subject in published.rows))
    return markdown_table(header, rows)


def _interval(ratio: Ratio) -> str:
    return f"{ratio.ratio:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _short(title: str) -> str:
    """The title of a case without what all cases of the article have in common."""
    return re.sub(r"^TLS 1\.2 |, transfer of [0-9,]+ bytes|, served by nginx\b", "", title)


def upgrades(figures: Figures) -> Iterator[str]:
    """The server's CPU time for a whole connection before and after each upgrade, in memory and in the web server."""
    costs = figures.costs(Metric.SERVER_CONNECTION_CPU_NS)
    subjects = [each.name for each in figures.run.subjects]
    steps = list(pairwise(subjects))
    rows = []
    for served in (case for case in costs if case.server != NOTHING):
        in_memory, in_server = (costs.get(case, {}) for case in (_in_memory(served), served))
        if any(in_server.get(old) and in_server.get(new) for old, new in steps):
            cells = [_step(place, old, new) for old, new in steps for place in (in_memory, in_server)]
            adds = [_added(in_memory.get(subject), in_server.get(subject)) for subject in subjects]
            rows.append([_short(served.label), *cells, ", ".join(adds)])
    versions = [" → ".join(figures.titles[each].split()[-1] for each in step) for step in steps]
    header = ("case", *(f"{version}, {place}" for version in versions for place in ("in memory", "nginx")))
    yield "### An upgrade of OpenSSL, in memory and in nginx"
    yield markdown_table((*header, "nginx adds, µs"), rows)
    yield "A dash: no invocation has the value. No percentage: fewer than three have it."


def _in_memory(served: Case) -> Case:
    """The same connection without a server, and without what only servers have."""
    usual = {name: Case.model_fields[name].default for name, row in DIMENSIONS.items() if row.kind == "servers"}
    return served.model_copy(update={**usual, "server": NOTHING})


def _added(in_memory: Batches | None, in_server: Batches | None) -> str:
    if not in_memory or not in_server:
        return "–"
    return f"{(estimate_median(_levels(in_server)).value - estimate_median(_levels(in_memory)).value) / 1000:,.0f}"


def _step(costs: Mapping[str, Batches], old: str, new: str) -> str:
    """`181 → 215 µs, +18.5% [+18.1%, +18.9%]`; a dash if one was not measured."""
    if not costs.get(old) or not costs.get(new):
        return "–"
    before, after = (estimate_median(_levels(costs[each])).value / 1000 for each in (old, new))
    ratio = compare(costs[new], costs[old])
    change = f", {move_words(ratio.ratio, ratio.low, ratio.high)}" if ratio else ""
    return f"{before:,.0f} → {after:,.0f} µs{change}"


def _levels(costs: Batches) -> Sequence[float]:
    return [values_of(values)[0] for values in costs.values()]


def equal_security(figures: Figures) -> Iterator[str]:
    """The cheapest handshake of each level by the authority of the article, in the newest version of each library."""
    kind = figures.run.host_kind
    newest = {each.library: each for each in figures.run.subjects}
    for subject in newest.values():
        here = Selection(Metric.CPU_NS, kind.pool, kind.cpu_model, run_id=figures.run.run_id, subjects=(subject.name,))
        levels, _ = handshakes_of(figures.store.samples(here), SecurityModel.ECRYPT)
        titles = {
            handshake.case.case_id: f"{_short(handshake.case.title)}: {handshake.cost.value / 1000:,.0f} µs"
            for level in levels
            for handshake in level.handshakes
        }
        rows = [
            [
                str(level.level_bits),
                *("–" if case_id is None else titles[case_id] for case_id in (level.rsa_case, level.cheapest_case)),
                level.forward_secrecy_adds,
            ]
            for level in levels
        ]
        yield f"**{_title(subject)}**"
        header = ("bits", "RSA key exchange", "cheapest with forward secrecy", "what forward secrecy adds")
        yield markdown_table(header, rows)


def server_costs(figures: Figures) -> Iterator[str]:
    """The server's CPU time of each case, and how many times as much the last case costs."""
    costs = figures.costs(Metric.SERVER_CPU_NS)
    measured = [
        (case, subject, estimate_median(_levels(costs[case][subject])))
        for case in costs
        for subject in figures.titles
        if costs[case].get(subject)
    ]
    *_, (last, _, most) = measured
    rows = []
    for case, subject, estimate in measured:
        low, high = (each and each / 1e6 for each in (estimate.low, estimate.high))
        interval = f" [{low:.3f}, {high:.3f}]" if low and high else ""
        times = "" if case == last else f"{most.value / estimate.value:.0f}"
        rows.append([case.label, figures.titles[subject], f"{estimate.value / 1e6:.3f}{interval}", times])
    yield markdown_table(("case", "library", "server's CPU time, ms", "the last case costs times as much"), rows)


def times(figures: Figures) -> Iterator[str]:
    """Published times of handshakes over paths."""
    return published_times(figures.store, figures.run)


BLOCKS = {
    "forward-secrecy-2011": (rates,),
    "equal-security": (equal_security,),
    "loaded-server": (ratios, upgrades),
    "zero-rtt": (server_costs,),
    "paquin-2020": (times,),
    "sosnowski-2023": (times,),
}
"""What writes the figures of each article, by the name of its spec."""


def section(article: ArticleView, figures: Figures) -> str:
    blocks = chain.from_iterable(write(figures) for write in BLOCKS[article.name])
    return "\n\n".join([f"## {article.title}", f"{figures.measured()} [Spec](../../{article.spec}).", *blocks])


def main() -> int:
    store = Installation(Settings()).open_store()
    measured = [(article, article.run) for article in articles(store).articles]
    missing = [article.name for article, run in measured if run is None]
    if missing:
        text = f"not written: no finished run of {', '.join(missing)}; kexbench run bench-specs/articles/*.yaml"
        print(text, file=sys.stderr)
        return 1
    sections = [section(article, Figures(store, run)) for article, run in measured if run]
    write_whole(PAGE, ("\n\n".join([HEAD, *sections]) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
