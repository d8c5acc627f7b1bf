"""Any two cases: judged where one run measured both in turns, otherwise a ratio with its interval and the reason."""

from collections.abc import Mapping

import httpx2
import pytest

from kexbench.answers.two_cases import NOT_IN_TURNS
from kexbench.domain.hosts import HostFacts
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.test_compare import compared
from tests.api.test_upgrades import ONE, OTHER_CPU, TWO
from tests.builders import HOST, a_run, an_invocation

SPEC = """
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: cases }
subjects: [{ fake: ["1.0", "1.1"] }]
matrix:
  - { protocol: [TLSv1.2], keyExchange: [ECDHE-RSA], cipher: [AES-128-GCM, AES-128-CBC-SHA] }
  - { protocol: [TLSv1.2], keyExchange: [ECDHE-RSA], fips: [true] }
  - { protocol: [TLSv1.2], keyExchange: [ECDHE-RSA], certificateNames: [1000] }
measure: { invocations: 10 }
"""
GCM = "tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"
CBC, FIPS, NAMES = GCM.replace("gcm", "cbc-sha"), f"{GCM}_fips", f"{GCM}_names-1000"
Costs = Mapping[str, Mapping[str, float]]
COSTS: Costs = {
    GCM: {ONE: 1.0, TWO: 1.0},
    CBC: {ONE: 1.1, TWO: 1.2},
    FIPS: {ONE: 0.9, TWO: 1.0},
    NAMES: {ONE: 2, TWO: 2},
}


def measured(store: ClickHouseStore, run_id: str, costs: Costs, count: int = 10, host: HostFacts = HOST) -> None:
    """A run in which each case and subject costs so many times 1 ms, with a little noise."""
    run = a_run(run_id, spec=SPEC, host=host)
    store.add_run(run)
    found = []
    for place, (case_id, by_subject) in enumerate(costs.items()):
        for number in range(count):
            cpu_ns = {
                name: 1e6 * cost * (1 + 0.0003 * ((7 * number + 3 * place + 5 * nth) % 11 - 5))
                for nth, (name, cost) in enumerate(by_subject.items())
            }
            found.append(an_invocation(run, number, case_id=case_id, cpu_ns=cpu_ns, host=host))
    store.add_invocations(run, found)


@pytest.mark.parametrize(
    ("case_id", "verdict", "ratio", "difference"),
    [
        (CBC, "more", 1.1, ("cipher", "AES-128-GCM", "AES-128-CBC-SHA")),
        (FIPS, "less", 0.9, ("FIPS", "no", "yes")),
        (NAMES, "more", 2.0, ("certificate names", "1", "1,000")),
    ],
)
def test_two_cases_of_one_build_are_judged_and_the_dimension_is_named_with_both_values(
    client: httpx2.Client,
    empty_store: ClickHouseStore,
    case_id: str,
    verdict: str,
    ratio: float,
    difference: tuple[str, str, str],
) -> None:
    measured(empty_store, "one", COSTS)
    asked = {"base": "fake@1.0", "other": "fake@1.0", "base_case_id": GCM, "other_case_id": case_id}
    answer = compared(client, **asked)
    (cell,) = answer["cells"]
    assert (cell["case_id"], cell["other_case_id"]) == (GCM, case_id)
    assert (cell["unalike"], cell["warnings"], cell["paired"]) == ([], [], True)
    assert cell["run_ids"] == ["one"]
    for side in (cell["move"] | {"verdict": cell["verdict"]}, cell["client"], cell["server"]):
        assert side["verdict"] == verdict
        assert side["low"] < side["ratio"] < side["high"]
        assert side["ratio"] == pytest.approx(ratio, rel=0.01)
    assert [tuple(one.values()) for one in answer["differences"]] == [difference]
    assert [case["id"] for case in answer["cases"]] == [GCM, case_id]
    assert (answer["base"]["case_id"], answer["other"]["case_id"]) == (GCM, case_id)

    swapped = compared(client, **asked | {"base_case_id": case_id, "other_case_id": GCM})["cells"][0]
    assert swapped["verdict"] == {"more": "less", "less": "more"}[verdict]
    assert swapped["move"]["ratio"] == pytest.approx(1 / cell["move"]["ratio"])


def test_two_versions_in_two_cases_are_compared_as_they_are_named(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", COSTS)
    answer = compared(client, base="fake@1.0", other="fake@1.1", base_case_id=GCM, other_case_id=CBC)
    (cell,) = answer["cells"]
    assert cell["verdict"] == "more"
    assert cell["move"]["ratio"] == pytest.approx(1.2, rel=0.01)
    assert cell["estimates"]["both"][0]["value"] == pytest.approx(1e6, rel=0.01)
    assert cell["estimates"]["both"][1]["value"] == pytest.approx(1.2e6, rel=0.01)


@pytest.mark.parametrize("runs", [("one", "two"), ("two", "one")])
def test_cases_of_two_runs_have_a_ratio_the_reason_and_no_verdict(
    client: httpx2.Client, empty_store: ClickHouseStore, runs: tuple[str, str]
) -> None:
    measured(empty_store, runs[0], {GCM: {ONE: 1.0, TWO: 1.0}})
    measured(empty_store, runs[1], {CBC: {ONE: 1.5, TWO: 1.5}})
    answer = compared(client, base="fake@1.0", other="fake@1.0", base_case_id=GCM, other_case_id=CBC)
    (cell,) = answer["cells"]
    assert (cell["unalike"], cell["warnings"]) == (["turns"], [NOT_IN_TURNS])
    assert (cell["verdict"], cell["resolves"], cell["paired"]) == ("unjudged", None, False)
    assert cell["move"]["low"] < 1.5 < cell["move"]["high"]
    assert [(one["what"], one["before"], one["after"]) for one in answer["differences"]] == [
        ("cipher", "AES-128-GCM", "AES-128-CBC-SHA")
    ]


def test_a_run_that_measured_both_in_turns_comes_before_a_newer_one_with_only_one(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", COSTS)
    measured(empty_store, "two", {CBC: {ONE: 3.0, TWO: 3.0}})
    answer = compared(client, base="fake@1.0", other="fake@1.0", base_case_id=GCM, other_case_id=CBC)
    assert answer["cells"][0]["move"]["ratio"] == pytest.approx(1.1, rel=0.01)
    named = compared(client, base="fake@1.0", other="fake@1.0", base_case_id=GCM, other_case_id=CBC, other_run_id="two")
    assert named["cells"][0]["unalike"] == ["turns"]


def test_two_cases_on_two_cpus_differ_in_the_cpu(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {GCM: {ONE: 1.0, TWO: 1.0}})
    measured(empty_store, "two", {CBC: {ONE: 1.5, TWO: 1.5}}, host=OTHER_CPU)
    asked = {"base_cpu_model": HOST.cpu_model, "other_cpu_model": OTHER_CPU.cpu_model}
    (cell,) = compared(client, base="fake@1.0", other="fake@1.0", base_case_id=GCM, other_case_id=CBC, **asked)["cells"]
    assert (cell["unalike"], cell["verdict"]) == (["cpu"], "unjudged")


def test_two_invocations_are_too_few_for_a_verdict(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", COSTS, count=2)
    (cell,) = compared(client, base="fake@1.0", other="fake@1.0", base_case_id=GCM, other_case_id=CBC)["cells"]
    assert (cell["move"], cell["verdict"], cell["unalike"]) == (None, "unjudged", ["turns"])


def test_one_case_alone_is_the_comparison_of_the_two_ends_in_it(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", COSTS)
    whole = compared(client, base="fake@1.0", other="fake@1.1")
    for asked in ({"base_case_id": CBC}, {"other_case_id": CBC}, {"base_case_id": CBC, "other_case_id": CBC}):
        answer = compared(client, base="fake@1.0", other="fake@1.1", **asked)
        assert answer["cells"] == [cell for cell in whole["cells"] if cell["case_id"] == CBC]
        assert answer["differences"] == []
    assert {case["id"] for case in whole["base"]["cases"]} == {GCM, CBC, FIPS, NAMES}
    assert compared(client, base="fake@1.0", other="fake@1.0", base_case_id=CBC)["cells"] == []


def test_a_case_that_was_not_measured_has_no_cell(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {GCM: {ONE: 1.0, TWO: 1.0}})
    answer = compared(client, base="fake@1.0", other="fake@1.0", base_case_id=GCM, other_case_id=CBC)
    assert (answer["cells"], answer["differences"]) == ([], [])
