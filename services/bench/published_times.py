"""Published times of handshakes over paths, beside those of a run: of bench/articles.py."""

import csv
from collections.abc import Iterator
from pathlib import Path

from bench.tables import markdown_table
from kexbench.analysis.percentiles import percentile
from kexbench.answers.articles import ArticleRun
from kexbench.domain.batches import RemovedBatches
from kexbench.domain.dimensions import NOTHING
from kexbench.domain.intervals import Estimate
from kexbench.domain.numbers import percent
from kexbench.domain.paths import parse_path
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleStore, Selection

PUBLISHED = Path(__file__).with_name("data") / "published_times.csv"
"""data/README.md says where they are from."""
MEDIAN, TAIL = 0.5, 0.95


def published_times(store: SampleStore, run: ArticleRun) -> Iterator[str]:
    """A table for the run's one subject. A case without numbers has a dash."""
    cases = {case.case_id: case for case in run.cases}
    with PUBLISHED.open(encoding="utf-8") as file:
        published = [row for row in csv.DictReader(file) if row["case_id"] in cases]
    waits = _waits(store, run)
    from_hello = published[0]["since"] == "hello"
    has_tails = bool(published[0]["p95_ms"])
    rows = []
    for row in published:
        case = cases[row["case_id"]]
        path = parse_path(case.path)
        label = case.model_copy(update={"path": NOTHING, "cipher": type(case).model_fields["cipher"].default}).label
        cells = [label.removeprefix("TLS 1.3 "), path.words, row["p50_ms"]]
        values = [wait - (path.round_trip_ns if from_hello else 0) for wait in waits.get(case.case_id, ())]
        median = percentile(values, MEDIAN, 1) if values else None
        cells.append(_words(median))
        cells.append(percent(median.value / 1e6 / float(row["p50_ms"])) if median else "–")
        if has_tails:
            cells += [row["p95_ms"], _words(percentile(values, TAIL, 1) if values else None)]
        rows.append(cells)
    header = ["case", "path", "published, median", "here", "difference", "published, 95%", "here"]
    since = "its ClientHello" if from_hello else "the beginning of its connection"
    yield f"Milliseconds until the client's handshake is done, from {since}."
    yield markdown_table(header[: len(rows[0])], rows)


def _waits(store: SampleStore, run: ArticleRun) -> dict[str, list[float]]:
    """Nanoseconds from the beginning of each connection until its handshake was done, by case: of all invocations."""
    kind = run.host_kind
    found: dict[str, list[float]] = {}
    here = Selection(Metric.PATH_HANDSHAKE_P50_NS, kind.pool, kind.cpu_model, run_id=run.run_id)
    for row in store.samples(here):
        if not isinstance(row.values, RemovedBatches):
            found.setdefault(row.case.case_id, []).extend(row.values)
    return found


def _words(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value / 1e6:.2f}"
    return f"{estimate.value / 1e6:.2f} [{estimate.low / 1e6:.2f}, {estimate.high / 1e6:.2f}]"
