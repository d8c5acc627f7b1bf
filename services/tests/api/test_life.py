"""A library's life, from rows of a real store: changes of starts and ages with both ends, and what variations cost."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import pytest

from kexbench.domain.samples import Metric, Sample
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import SPEC, a_run, an_invocation, an_outcome

OLD, NEW = "fake@1.0", "fake@1.1"
PLAIN = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm_chain-2_verified"
LOADED = f"{PLAIN}_anchors-144"
MATRIX = """\
matrix:
  - protocol: [TLSv1.3]
    keyExchange: [ECDHE-ECDSA]
    group: [X25519]
    chainLength: [2]
    verification: [true]
    trustAnchors: [1, 144]
"""
INVOCATIONS = 6
Values = Mapping[Metric, Mapping[str, float]]


def measured(
    store: ClickHouseStore,
    values: Mapping[str, Values],
    age: int = 0,
    starts: int = 3,
    run_id: str = "run-life",
    failed: Sequence[str] = (),
) -> None:
    """A run of both cases. Each invocation's values are some thousandths apart, alike for both subjects."""
    ages = f", age: {age}" if age else ""
    spec = (
        SPEC[: SPEC.index("matrix:")] + f"{MATRIX}measure: {{ invocations: {INVOCATIONS}, starts: {starts}{ages} }}\n"
    )
    run = a_run(run_id, spec=spec)
    store.add_run(run)
    found = []
    for case_id, of_case in values.items():
        for number in range(INVOCATIONS):
            costs = dict.fromkeys({OLD, NEW} - set(failed), 500_000.0)
            outcomes = [an_outcome(subject) for subject in failed]
            invocation = an_invocation(run, number, case_id=case_id, cpu_ns=costs, outcomes=outcomes)
            samples = [
                Sample(subject=subject, metric=metric, values=_around(value, number))
                for metric, of_metric in of_case.items()
                for subject, value in of_metric.items()
            ]
            found.append(invocation.model_copy(update={"samples": (*invocation.samples, *samples)}))
    store.add_invocations(run, found)


def _around(value: float, number: int) -> Sequence[float]:
    return tuple(value * (1 + 0.001 * number + 0.0001 * place) for place in range(3))


def asked(client: httpx2.Client, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/life", params=query).raise_for_status().json()
    return answer


def fill(store: ClickHouseStore) -> None:
    """A start that got slower with many anchors, and a context that grows."""
    ages = {Metric.YOUNG_CPU_NS: {OLD: 1e5, NEW: 1e5}, Metric.OLD_CPU_NS: {OLD: 1e5, NEW: 1.5e5}}
    plain = {Metric.START_CPU_NS: {OLD: 3e6, NEW: 4e6}, Metric.START_TRUST_CPU_NS: {OLD: 1e5, NEW: 1e5}}
    loaded = {Metric.START_CPU_NS: {OLD: 8e6, NEW: 28e6}, Metric.START_TRUST_CPU_NS: {OLD: 5e6, NEW: 25e6}}
    held = {Metric.SERVER_HELD_BYTES: {OLD: 60_000, NEW: 120_000}}
    measured(store, {PLAIN: {**plain, **ages, **held}, LOADED: loaded}, age=100_000)


def test_an_empty_store_has_no_life(client: httpx2.Client) -> None:
    nothing: dict[str, Any] = {
        "host_kind": None,
        "subjects": [],
        "cases": [],
        "changes": [],
        "variations": [],
        "sentence": "",
    }
    assert asked(client) == nothing


def test_a_case_without_starts_ages_or_counts_is_not_shown(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {PLAIN: {Metric.CLIENT_HELD_BYTES: {OLD: 1000, NEW: 2000}}})
    assert asked(client)["cases"] == []


def test_a_case_of_which_every_age_failed_is_shown_with_its_reason(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {PLAIN: {}}, failed=(OLD, NEW), starts=0, age=100_000)
    (case,) = asked(client)["cases"]
    ((group, (line,)),) = [(section["group"], section["lines"]) for section in case["sections"]]
    assert (group, line["metric"]) == ("Age of a context", "young_cpu_ns")
    assert [(cell["estimate"], cell["outcome"]["reason"]) for cell in line["cells"]] == [(None, "no such group")] * 2


def test_a_case_that_failed_without_a_start_or_an_age_asked_for_is_not_shown(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {PLAIN: {}}, failed=(OLD, NEW), starts=0)
    assert asked(client)["cases"] == []


def test_a_slower_trust_store_is_found_with_both_ends(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    trust = {Metric.START_TRUST_CPU_NS: {OLD: 5e6, NEW: 25e6}, Metric.START_CPU_NS: {OLD: 8e6, NEW: 28e6}}
    measured(empty_store, {LOADED: {**trust, Metric.SERVER_HELD_BYTES: {OLD: 60_000, NEW: 60_000}}})
    answer = asked(client)
    first = answer["changes"][0]
    assert (first["metric"], first["case"]["id"], first["before"]) == (
        "start_trust_cpu_ns",
        LOADED,
        pytest.approx(5e6, rel=0.01),
    )
    assert [end["version"] for end in first["ends"]] == ["1.0", "1.1"]
    assert (first["verdict"], first["after"]) == ("more", pytest.approx(25e6, rel=0.01))
    move = first["move"]
    assert move["low"] <= move["ratio"] <= move["high"]
    assert move["ratio"] == pytest.approx(5, rel=0.01)
    assert answer["sentence"].startswith("The largest change is in start trust CPU time: 5,")
    assert "+400.0%" in answer["sentence"]
    (case,) = answer["cases"]
    groups = [section["group"] for section in case["sections"]]
    assert groups == ["Start of a process", "Memory"]
    (line,) = case["sections"][1]["lines"]
    assert line["metric"] == "server_held_bytes"
    assert [cell["estimate"]["value"] for cell in line["cells"]] == pytest.approx([60_000, 60_000], rel=0.01)


def test_a_metric_that_is_told_of_is_told_of_with_its_largest_increase_and_decrease(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    factors = {
        Metric.START_CONTEXT_CPU_NS: 9,
        Metric.START_KEYS_CPU_NS: 8,
        Metric.START_CPU_NS: 6,
        Metric.START_TRUST_CPU_NS: 5,
        Metric.START_LOAD_CPU_NS: 3,
    }
    slower = {metric: {OLD: 1e6, NEW: factor * 1e6} for metric, factor in factors.items()}
    faster = {metric: {OLD: 4e6, NEW: 1e6} for metric in factors}
    measured(empty_store, {PLAIN: slower, LOADED: faster})
    changes = [(each["metric"], each["verdict"], each["case"]["id"]) for each in asked(client)["changes"]]
    most = [metric.value for metric in factors if metric is not Metric.START_LOAD_CPU_NS]
    assert changes[:4] == [(metric, "more", PLAIN) for metric in most]
    assert sorted(changes[4:]) == sorted((metric, "less", LOADED) for metric in most)


def test_a_leak_that_begins_is_the_largest_change_although_nothing_has_no_ratio(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    slower = {Metric.START_CPU_NS: {OLD: 4e6, NEW: 5e6}}
    measured(empty_store, {PLAIN: {Metric.GROWTH_BYTES: {OLD: 0, NEW: 16}, **slower}})
    answer = asked(client)
    first, second = answer["changes"]
    assert (first["metric"], first["verdict"], first["move"]) == ("growth_bytes", "more", None)
    assert (first["before"], first["after"]) == (0, pytest.approx(16, rel=0.01))
    assert second["metric"] == "start_cpu_ns"
    assert "0 → 16" in answer["sentence"]


def test_both_values_of_a_change_are_of_the_run_that_compared_them(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {PLAIN: {Metric.START_CPU_NS: {OLD: 4e6, NEW: 8e6}}})
    measured(empty_store, {PLAIN: {Metric.START_CPU_NS: {NEW: 5e6}}}, run_id="run-later")
    (change,) = asked(client)["changes"]
    assert (change["before"], change["after"]) == (pytest.approx(4e6, rel=0.01), pytest.approx(8e6, rel=0.01))
    assert change["move"]["ratio"] == pytest.approx(2, rel=0.01)


def test_a_newer_version_without_a_number_hides_no_variation(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(
        empty_store,
        {PLAIN: {Metric.START_CPU_NS: {OLD: 4e6}}, LOADED: {Metric.START_CPU_NS: {OLD: 8e6}}},
        failed=(NEW,),
    )
    (variation,) = asked(client)["variations"]
    assert variation["subject"].startswith("fake@1.0")


def test_a_variation_costs_the_newest_version_what_its_starts_differ_by(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(
        empty_store,
        {
            PLAIN: {Metric.START_CPU_NS: {OLD: 3e6, NEW: 4e6}},
            LOADED: {Metric.START_CPU_NS: {OLD: 8e6, NEW: 28e6}},
        },
    )
    (variation,) = asked(client)["variations"]
    assert (variation["usual"]["id"], variation["other"]["id"]) == (PLAIN, LOADED)
    assert variation["what"] == "trust anchors 1 → 144"
    assert variation["subject"].startswith("fake@1.1")
    assert variation["move"]["ratio"] == pytest.approx(7, rel=0.01)
    assert variation["move"]["low"] <= variation["move"]["ratio"] <= variation["move"]["high"]
    assert variation["before"]["value"] == pytest.approx(4e6, rel=0.01)
    assert variation["after"]["value"] == pytest.approx(28e6, rel=0.01)


def test_the_dearer_case_is_the_other_one(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(
        empty_store, {PLAIN: {Metric.START_CPU_NS: {NEW: 8e6}}, LOADED: {Metric.START_CPU_NS: {NEW: 4e6, OLD: 1e6}}}
    )
    (variation,) = asked(client)["variations"]
    assert variation["what"] == "trust anchors 144 → 1"
    assert variation["move"]["ratio"] == pytest.approx(2, rel=0.01)


def test_a_difference_within_the_noise_is_no_variation(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(
        empty_store, {PLAIN: {Metric.START_CPU_NS: {NEW: 4e6}}, LOADED: {Metric.START_CPU_NS: {NEW: 4e6 * 1.0001}}}
    )
    assert asked(client)["variations"] == []


def test_a_context_that_gets_slower_has_a_slope(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    ages = {
        Metric.YOUNG_CPU_NS: {OLD: 100_000, NEW: 100_000},
        Metric.OLD_CPU_NS: {OLD: 100_000, NEW: 150_000},
    }
    measured(empty_store, {PLAIN: ages}, age=100_000)
    (case,) = asked(client)["cases"]
    old, new = case["ageing"]
    assert (old["growth"], new["growth"]) == ("does not grow", "grows")
    assert new["connections"] == 100_000
    apart = 100_000 * 0.79  # the middles of the first fifth, without its first point, and of the last one
    assert new["slope"]["value"] == pytest.approx(50_000 * 1e6 / apart, rel=0.02)
    assert new["slope"]["low"] <= new["slope"]["value"] <= new["slope"]["high"]
