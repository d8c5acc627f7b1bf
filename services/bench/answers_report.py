"""The section of the report on a service with a large store."""

from collections.abc import Sequence

from bench.answers import Answers
from bench.large_store import BATCHES as STORED_BATCHES
from bench.load import DELIVERY_S, RATE, Load
from bench.tables import markdown_table
from bench.transfers import Upload
from kexbench.domain.plans import BATCHES

_MIB = 1 << 20
GOALS_S = {"first": 1.5, "changed": 0.5, "fresh": 0.1, "again": 0.005}


def answers_text(stores: Sequence[Answers]) -> str:
    return "\n\n".join("\n\n".join(_parts(store)) for store in stores)


def _parts(store: Answers) -> list[str]:
    sizes = f"{store.values / 1e6:.0f} million values, {store.stored_bytes / store.values:.2f} bytes each"
    opened = f"The store opens in {store.opened_s:.1f} s. The process takes at most {_megabytes(store.peak_bytes)}."
    answers = markdown_table(
        ("answer", *GOALS_S),
        [
            (name, *(_beside_goal(getattr(answer, f"{column}_s"), goal) for column, goal in GOALS_S.items()))
            for name, answer in store.answers.items()
        ],
    )
    beyond = sum(
        getattr(answer, f"{column}_s") > goal for answer in store.answers.values() for column, goal in GOALS_S.items()
    )
    met = f"Of {len(GOALS_S) * len(store.answers)} times, {beyond} are above their goal, and bold."
    transfers = store.transfers
    exports = " ".join(
        f"As {name}, {export.content_bytes / 1e6:,.0f} MB take {export.cpu_s:.1f} s of CPU time, and the process takes"
        f" at most {_megabytes(export.peak_bytes)}."
        for name, export in transfers.exports.items()
    )
    uploads = (
        f"Uploads in batches store {_rate(transfers.of_usual_length)} values in a second of CPU time with {BATCHES}"
        f" values in a sample, as specs have by default, and {_rate(transfers.in_batches)} with {STORED_BATCHES},"
        " as the store has."
        f" With one invocation in each request they store {_rate(transfers.single)}."
    )
    parts = [f"**{sizes}.** {opened} {met}", answers, f"{uploads} {exports}"]
    if rows := store.sample_rows:
        matrix, series = store.answers["matrix"], store.answers["trends, one series"]
        parts.append(
            f"A table in SQLite with a row for each value takes {rows.stored_bytes / rows.rows:.0f} bytes for each."
            f" The medians of the matrix take {_milliseconds(rows.matrix_s)} there, and those of the series"
            f" {_milliseconds(rows.series_s)}: {rows.matrix_s / matrix.fresh_s:.1f} and"
            f" {rows.series_s / series.fresh_s:.1f} times as long as the fresh answers here."
        )
    return parts


def loads_text(loads: Sequence[tuple[int, Load]]) -> str:
    return "\n\n".join(f"**{millions} million values.** {load_text(load)}" for millions, load in loads)


def load_text(load: Load) -> str:
    names = sorted(load.waits)  # the one of all answers first
    rows = [
        (name or "all", f"{waits.requests:,}", *map(_milliseconds, (waits.median_s, waits.p99_s, waits.longest_s)))
        for name, waits in ((name, load.waits[name]) for name in names)
    ]
    about = (
        f"{RATE} requests in a second for {load.seconds:.0f} s, {load.delivered} invocations delivered meanwhile, one"
        f" every {DELIVERY_S:.0f} s. Requests without an answer: {load.refused}. Outdated answers:"
        f" {load.outdated / load.waits[''].requests:.0%}."
    )
    return f"{about}\n\n{markdown_table(('answer', 'requests', 'median', '99%', 'longest'), rows)}"


def _beside_goal(seconds: float, goal_s: float) -> str:
    return f"**{_milliseconds(seconds)}**" if seconds > goal_s else _milliseconds(seconds)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


def _megabytes(size: int) -> str:
    return f"{size / _MIB:,.0f} MiB"


def _rate(upload: Upload) -> str:
    return f"{upload.values / upload.cpu_s:,.0f}"
