"""The batches behind a number: those of one run by invocation, with what was left out counted."""

import math
from typing import Any

import httpx2
import numpy as np
import pytest

from kexbench.answers import batches as of_cells
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import assert_problem
from tests.api.test_upgrades import ONE, OTHER_CPU, TWO, measured, names
from tests.builders import HOST, RSA, a_run, an_invocation


def distribution(client: httpx2.Client, **asked: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/distribution", params={"case_id": RSA, **asked}).raise_for_status().json()
    return answer


def test_unknown_batches_are_a_problem(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    subject = names(empty_store)["1.0"]
    for asked in ({"subject": "none"}, {"subject": subject, "run_id": "none"}, {"subject": subject, "pool": "none"}):
        assert_problem(client.get("/distribution", params={"case_id": RSA, **asked}), 404, *asked.values())


def test_batches_are_of_the_newest_run_unless_another_is_named(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    measured(empty_store, "two", {ONE: 2.0}, day=1)
    measured(empty_store, "three", {ONE: 3.0, TWO: 3.0}, day=2, host=OTHER_CPU)
    subject = names(empty_store)["1.0"]
    newest = distribution(client, subject=subject)
    assert (newest["run_id"], newest["host_kind"]["cpu_model"]) == ("three", OTHER_CPU.cpu_model)
    assert [kind["cpu_model"] for kind in newest["host_kinds"]] == [OTHER_CPU.cpu_model, HOST.cpu_model]
    there = distribution(client, subject=subject, cpu_model=HOST.cpu_model)
    assert (there["run_id"], [run["run_id"] for run in there["runs"]]) == ("two", ["two", "one"])
    one = distribution(client, subject=subject, run_id="one")
    assert (one["run_id"], len(one["invocations"])) == ("one", 10)
    assert [each["invocation"] for each in one["invocations"]] == sorted(
        each["invocation"] for each in one["invocations"]
    )


def test_quantiles_are_of_the_batches_and_interrupted_batches_are_left_out(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    run = a_run("one")
    batches = [1000.0, 1100.0, math.nan, 1400.0]
    empty_store.add_run(run)
    empty_store.add_invocations(
        run,
        [
            an_invocation(run, 0, cpu_ns={ONE: batches}, preempted_batches=1),
            an_invocation(run, 1, cpu_ns={ONE: [1000.0] * 4}, preempted_batches=4, without_sides=[ONE]),
        ],
    )
    subject = names(empty_store)["1.0"]
    both = distribution(client, subject=subject)
    first, second = both["invocations"]
    assert (first["batches"], second["batches"]) == ([1000, 1100, None, 1400], [1000] * 4)
    assert first["level"] == 1100
    known = [1000, 1100, 1400]
    for share in (5, 25, 50, 75, 95):
        assert first[f"p{share:02}"] == pytest.approx(np.percentile(known, share))
    assert both["disturbed"] == 0
    server = distribution(client, subject=subject, metric="server_cpu_ns")
    assert [each["invocation"] for each in server["invocations"]] == [0]
    assert server["disturbed"] == 1


def test_later_invocations_than_fit_are_counted(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    monkeypatch.setattr(of_cells, "MOST_INVOCATIONS", 4)
    answer = distribution(client, subject=names(empty_store)["1.0"])
    assert ([each["invocation"] for each in answer["invocations"]], answer["left_out"]) == ([0, 1, 2, 3], 6)
