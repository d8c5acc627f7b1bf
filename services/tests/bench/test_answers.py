"""The generator of large stores, and what is measured with one."""

import asyncio
from pathlib import Path

import pytest

from bench.answers import measure
from bench.large_store import BATCHES, METRICS, Extent, make_large_store, values_of
from bench.report import answers_table
from kexbench.domain.runs import RunState
from kexbench.store.port import Selection

SMALL = Extent(runs=2, groups=1, versions=2, hosts=2)

pytestmark = [pytest.mark.xdist_group("store"), pytest.mark.thorough]


def test_a_generated_store_is_like_one_that_was_measured(tmp_path: Path) -> None:
    store = make_large_store(tmp_path, SMALL)
    runs = store.runs(10)
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


def test_answers_are_measured_and_told(tmp_path: Path) -> None:
    make_large_store(tmp_path, SMALL).close()
    answers = asyncio.run(measure(tmp_path))
    assert all(answer.fresh_s > 0 for answer in answers.answers.values())
    table = answers_table([answers, answers])
    assert "| filters |" in table
    assert table.count(" 1.0 |") == len(answers.answers)
