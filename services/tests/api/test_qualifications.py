"""What A/A runs proved: from stored rows with planted noise to the figures that people plan with."""

from datetime import timedelta
from math import exp, log, sqrt
from typing import Any

import httpx2
import numpy as np
import pytest

from kexbench.analysis.detectable import smallest_detectable_change
from kexbench.domain.plans import HARNESS_VERSION
from kexbench.domain.runs import Run
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import ECDSA, HOST, NOON, RSA, a_kit, a_run, an_invocation

ONE = "openssl@system+relink=1"
COPY, OTHERS = f"{ONE}+copy=2", tuple(f"openssl@system+relink={number}" for number in (2, 3, 4, 5))
COUNT, NOISE = 40, 0.003
SPEC = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: {{ name: qualify-openssl }}
subjects: [{{ openssl: [{sources}] }}]
matrix: {{ protocol: [TLSv1.2], keyExchange: [RSA, ECDHE-ECDSA] }}
measure: {{ invocations: {count}, sentinel: false }}
"""


def qualified(
    store: ClickHouseStore,
    *subjects: str,
    run_id: str = "one",
    day: int = 0,
    noise: float = NOISE,
    layouts: float = 0.0,
    version: str = "3.0.2",
    count: int = COUNT,
    case_id: str = RSA,
    harness: int = HARNESS_VERSION,
) -> Run:
    """A run in which each subject has noise of its own, and each relink costs `layouts` more than the one before."""
    chance = np.random.default_rng(day)
    spec = SPEC.format(sources=", ".join(text.removeprefix("openssl@") for text in subjects), count=count)
    kits = {reference: a_kit(reference, version=version) for reference in subjects}
    run = a_run(run_id, spec=spec, kits=kits, created_at=NOON + timedelta(days=day))
    run = run.model_copy(update={"plan": run.plan.model_copy(update={"harness_version": harness})})
    store.add_run(run)
    found = []
    for number in range(count):
        steps = {reference: step for step, reference in enumerate(OTHERS, start=1)}
        cost = {
            reference: 1e6 * exp(noise * chance.standard_normal() + layouts * steps.get(reference, 0))
            for reference in subjects
        }
        found.append(an_invocation(run, number, cpu_ns=cost, case_id=case_id))
    store.add_invocations(run, found)
    return run


def rows(client: httpx2.Client, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/qualifications", params=asked).json()["rows"]
    return found


def test_the_planted_noise_is_found_again(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    run = qualified(empty_store, ONE, COPY, *OTHERS)
    (row,) = rows(client)
    assert (row["library"], row["case"]["id"], row["run_id"]) == ("openssl", RSA, run.run_id)
    assert (row["invocations"], row["group"], row["relinks"]) == (COUNT, 10, 5)
    assert row["cv"] == pytest.approx(NOISE, rel=0.25)
    assert row["pair_sd"] == pytest.approx(sqrt(2) * NOISE, rel=0.35)
    assert row["smallest_detectable_change"] == pytest.approx(smallest_detectable_change(row["pair_sd"], 10))
    share = row["false_positives"]
    assert share["low"] <= share["value"] <= share["high"]
    assert share["value"] < 0.1


def test_what_was_measured_in_another_way_qualifies_nothing(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    qualified(empty_store, ONE, COPY, harness=HARNESS_VERSION - 1)
    assert rows(client) == []
    run = qualified(empty_store, ONE, COPY, run_id="two", day=1)
    qualified(empty_store, ONE, COPY, run_id="three", day=2, harness=HARNESS_VERSION - 1)
    assert [row["run_id"] for row in rows(client)] == [run.run_id]


def test_layouts_that_differ_are_a_floor_below_which_nothing_is_resolved(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    qualified(empty_store, ONE, COPY, *OTHERS, layouts=0.02)
    (row,) = rows(client)
    spread = float(np.std([0.02 * step for step in range(5)], ddof=1))
    assert log(1 + row["layout_floor"]) == pytest.approx(1.96 * sqrt(2) * spread, rel=0.15)
    assert row["cannot_resolve_below"] == row["layout_floor"] > row["smallest_detectable_change"]


def test_more_invocations_of_comparisons_to_come_detect_less(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    qualified(empty_store, ONE, COPY)
    (few,), (many,) = rows(client, invocations=10), rows(client, invocations=30)
    assert (few["group"], many["group"]) == (10, 30)
    assert many["smallest_detectable_change"] < 0.7 * few["smallest_detectable_change"]
    assert few["layout_floor"] is None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_newest_run_counts_alone_whichever_was_stored_first(
    order: tuple[int, int], client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    for day in order:
        qualified(empty_store, ONE, COPY, run_id=f"day-{day}", day=day, noise=(0.02, 0.002)[day])
    (row,) = rows(client)
    assert (row["run_id"], row["invocations"]) == ("day-1", COUNT)
    assert row["pair_sd"] == pytest.approx(sqrt(2) * 0.002, rel=0.35)


def test_of_two_pairings_the_newest_counts(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    plain = "openssl@system"
    for day, pair in enumerate(((ONE, COPY), (plain, f"{plain}+copy=3"))):
        qualified(empty_store, *pair, run_id=f"day-{day}", day=day, noise=(0.02, 0.002)[day])
    (row,) = rows(client)
    assert (row["run_id"], row["invocations"]) == ("day-1", COUNT)
    assert row["pair_sd"] < 0.004


@pytest.mark.parametrize("versions", [("3.0.2", "3.0.19"), ("3.0.19", "3.0.2")], ids=["upgrade", "downgrade"])
def test_of_two_versions_of_a_source_the_one_measured_last_speaks_for_it(
    versions: tuple[str, str], client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    for day, version in enumerate(versions):
        qualified(empty_store, ONE, COPY, *OTHERS, run_id=version, day=day, version=version, noise=(0.02, 0.002)[day])
    (row,) = rows(client)
    assert (row["run_id"], row["invocations"]) == (versions[1], COUNT)
    assert row["pair_sd"] < 0.004


def test_a_run_with_two_copies_qualifies_at_once(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """What is kept of copies depends on each run once, however many copies it has."""
    old, old_copy = "openssl@debian/bookworm", "openssl@debian/bookworm+copy=2"
    assert rows(client) == []
    qualified(empty_store, ONE, COPY, old, old_copy)
    assert {row["run_id"] for row in rows(client)} == {"one"}
    qualified(empty_store, ONE, COPY, old, old_copy, run_id="two", day=1)
    assert {row["run_id"] for row in rows(client)} == {"two"}


def test_each_case_has_a_row_of_its_own(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    for day, case_id in enumerate((RSA, ECDSA)):
        qualified(empty_store, ONE, COPY, run_id=f"day-{day}", day=day, case_id=case_id)
    assert {row["case"]["id"] for row in rows(client)} == {RSA, ECDSA}


def test_relinks_without_a_copy_prove_nothing(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    qualified(empty_store, ONE, *OTHERS, count=6)
    qualified(empty_store, "openssl@system+copy=2", run_id="alone", count=6)
    found = client.get("/qualifications").json()
    assert found["rows"] == []
    assert found["host_kind"]["cpu_model"] == HOST.cpu_model


def test_nothing_is_known_of_a_machine_on_which_nothing_was_measured(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    assert client.get("/qualifications").json()["host_kind"] is None
    qualified(empty_store, ONE, COPY, count=12)
    assert rows(client, pool="local", cpu_model="Another CPU") == []
    assert client.get("/qualifications", params={"invocations": 2}).status_code == 422
