"""The generator of large stores, and what is measured with one."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.answers import Answers, measure
from bench.answers_report import answers_text, load_text
from bench.furnishing import furnish
from bench.large_store import BATCHES, METRICS, Extent, make_large_store, runs_of, values_of
from bench.load import RATE, measure_load
from bench.questions import questions
from bench.sample_rows import measure_sample_rows
from bench.transfers import measure_transfers
from kexbench.domain.plans import BATCHES as USUAL_BATCHES
from kexbench.domain.runs import RunState
from kexbench.store.port import Selection
from tests.builders import newest_runs

SMALL = Extent(runs=2, groups=1, versions=2, hosts=2)

pytestmark = pytest.mark.thorough


def test_a_generated_store_is_like_one_that_was_measured(tmp_path: Path) -> None:
    store = make_large_store(tmp_path, SMALL)
    runs = newest_runs(store, 10)
    progress = store.progress([run.run_id for run in runs])
    assert len(runs) == len({run.run_id for run in runs}) == SMALL.runs * SMALL.hosts
    for run in runs:
        assert progress[run.run_id].event.state is RunState.FINISHED
        assert progress[run.run_id].invocations_stored == run.plan.invocations
    assert len(store.host_kinds()) == SMALL.hosts
    assert store.metrics() == set(METRICS)
    subjects = SMALL.versions + 1  # and the sentinel
    assert values_of(store) == len(runs) * runs[0].plan.invocations * subjects * len(METRICS) * BATCHES
    newest = {row.run_id for row in store.samples(Selection(METRICS[0]))}
    assert len(newest) == 1
    store.close()


@pytest.mark.long
def test_answers_transfers_and_sample_rows_are_measured_and_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.answers.REPETITIONS", 1)
    few = ("filters", "matrix", "trends, one series", "run")  # tests of kept answers ask everything
    monkeypatch.setattr(
        "bench.answers.questions", lambda asked: [each for each in questions(asked) if each.name in few]
    )
    extent = replace(SMALL, versions=3, groups=2)
    store = make_large_store(tmp_path / "store", extent)
    furnish(store, extent)
    store.close()
    opened_s, answers, peak_bytes = measure(tmp_path / "store", extent)
    transfers = measure_transfers(tmp_path / "store", extent)
    rows = measure_sample_rows(tmp_path / "rows.sqlite", extent)
    runs = runs_of(extent)
    values = len(runs) * runs[0].plan.invocations * (extent.versions + 1) * len(METRICS) * BATCHES
    assert rows.rows == values
    assert all(min(vars(answer).values()) > 0 for answer in answers.values())
    assert all(export.content_bytes > 0 for export in transfers.exports.values())
    assert transfers.single.values == transfers.in_batches.values > 0
    assert transfers.of_usual_length.values == transfers.in_batches.values * USUAL_BATCHES // BATCHES
    text = answers_text([Answers(values, 1000, opened_s, answers, peak_bytes, transfers, rows)])
    assert text.count("| filters |") == 1
    assert "As parquet" in text
    assert "A table in SQLite" in text


@pytest.mark.long
def test_a_service_under_load_answers_everybody_and_takes_what_is_delivered() -> None:
    load = measure_load(1, seconds=2)
    assert load.refused == 0
    assert load.delivered > 0
    assert load.waits[""].requests == 2 * RATE == sum(waits.requests for name, waits in load.waits.items() if name)
    assert "| all | 400 |" in load_text(load)
