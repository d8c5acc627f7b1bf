"""What a mix of connections needs, from stored costs: by hand, with an upgrade, with other parts, and with gaps."""

import json
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostFacts, kind_of
from kexbench.domain.runs import Purpose
from kexbench.domain.samples import Metric, OutcomeKind, Sample
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.asking import upgrade_report
from tests.api.conftest import assert_problem
from tests.builders import ECDSA, HOST, NOON, RSA, SPEC, a_plan, a_run, an_invocation, an_outcome

OTHER = HOST.model_copy(update={"cpu_model": "another CPU"})
PART = {"protocol": "TLSv1.2", "keyExchange": "RSA"}
OTHER_PART = {"protocol": "TLSv1.2", "keyExchange": "ECDHE-ECDSA"}
UNMEASURED = {"protocol": "TLSv1.3", "keyExchange": "ECDHE-ECDSA"}
US = 1000.0
SERVER_SHARE = 0.75
"""Of the CPU time, as an_invocation has it."""
Costs = dict[str, dict[str, float]]
"""CPU time of both sides in µs, by version and case."""


def measured(
    store: ClickHouseStore,
    costs: Costs,
    *,
    run_id: str = "one",
    day: int = 0,
    host: HostFacts = HOST,
    count: int = 6,
    purpose: Purpose = Purpose.HISTORY,
) -> None:
    spec = SPEC.replace("[1.0, 1.1]", f"[{', '.join(costs)}]")
    run = a_run(run_id, spec=spec, created_at=NOON + timedelta(days=day), host=host)
    run = run.model_copy(update={"purpose": purpose})
    store.add_run(run)
    invocations = []
    for case in run.plan.cases:
        of_versions = {f"fake@{version}": by_case.get(case.case_id) for version, by_case in costs.items()}
        for number in range(count):
            noise = 1 + 0.0004 * (number - 2.5)
            own = 1 + 0.0002 * ((number * 5) % 7 - 3)
            cpu_ns = {
                name: cost * US * noise * (own if name.endswith("1.1") else 1)
                for name, cost in of_versions.items()
                if cost is not None
            }
            outcomes = [an_outcome(name) for name, cost in of_versions.items() if cost is None]
            invocations.append(
                an_invocation(run, number, case_id=case.case_id, cpu_ns=cpu_ns, outcomes=outcomes, host=host)
            )
    store.add_invocations(run, invocations)


def a_mix(*parts: tuple[float, dict[str, str] | str], **fields: Any) -> str:
    """JSON is YAML too."""

    def written(share: float, case: dict[str, str] | str) -> dict[str, Any]:
        return {"share": share, "caseId" if isinstance(case, str) else "case": case}

    mix = {
        "apiVersion": "kexbench.dev/v1",
        "kind": "TrafficMix",
        "connectionsPerSecond": 10_000,
        "utilisation": 0.5,
        "cost": "handshake",
        "parts": [written(*part) for part in parts],
    }
    if "against" in fields:
        fields["against"] = [written(*part) for part in fields["against"]]
    return json.dumps(mix | fields)


HALVES = ((0.5, PART), (0.5, OTHER_PART))


def asked(client: httpx2.Client, mix: str, version: str = "fake@1.0", **request: str) -> dict[str, Any]:
    answer = client.post("/capacity", json={"mix": mix, "version": version, **request})
    assert answer.status_code == 200, answer.text
    report: dict[str, Any] = answer.json()
    return report


def refused(client: httpx2.Client, mix: str, version: str = "fake@1.0", **request: str) -> httpx2.Response:
    return client.post("/capacity", json={"mix": mix, "version": version, **request})


def test_cores_and_machines_by_hand(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """Servers of 0.75 x 400 and 0.75 x 200 µs, half each: 225 µs x 10,000/s at 50% are 4.5 cores."""
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}})
    report = asked(client, a_mix(*HALVES, coresPerMachine=4))
    (cpu,) = report["cpus"]
    (version,) = cpu["versions"]
    assert (report["cost"], report["missing"], report["spec_text"]) == ("handshake", [], None)
    assert version["need"]["cpu_ns"]["value"] == pytest.approx(225_000, rel=1e-3)
    cores = version["need"]["cores"]
    assert cores["value"] == pytest.approx(4.5, rel=1e-3)
    assert cores["low"] < 4.5 < cores["high"]
    assert version["need"]["machines"] == {"value": 2, "low": 2, "high": 2, "invocations": None}
    assert [part["load_share"] for part in version["parts"]] == pytest.approx([2 / 3, 1 / 3], rel=1e-3)
    assert (cpu["change"], cpu["part_changes"], version["instead"], cpu["warnings"]) == (None, [], None, [])
    assert cpu["sentence"].startswith("fake 1.0 needs 4.5 cores [4.4"), cpu["sentence"]


def test_an_upgrade_changes_the_mix_by_its_paired_parts(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """400 and 200 become 200 and 200, so 3 cores of 4.5. Drift that both versions share is not in the change."""
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}, "1.1": {RSA: 200, ECDSA: 200}})
    (cpu,) = asked(client, a_mix(*HALVES, coresPerMachine=2), to="fake@1.1")["cpus"]
    assert [each["need"]["cores"]["value"] for each in cpu["versions"]] == pytest.approx([4.5, 3.0], rel=1e-3)
    change = cpu["change"]
    assert change["verdict"] == "less"
    assert change["move"]["ratio"] == pytest.approx(2 / 3, rel=1e-3)
    assert change["move"]["low"] < 2 / 3 < change["move"]["high"]
    assert [(each["case_id"], each["verdict"], each["paired"]) for each in cpu["part_changes"]] == [
        (RSA, "less", True),
        (ECDSA, "same", True),
    ]
    assert "33.3%" in cpu["sentence"]
    assert cpu["sentence"].endswith("fewer. 3 → 2 machines.")


def test_a_run_aside_counts_only_where_the_history_lacks_a_part(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    def measured_in(*parts: tuple[float, dict[str, str]]) -> set[str]:
        (cpu,) = asked(client, a_mix(*parts), to="fake@1.1")["cpus"]
        return {part["run_id"] for version in cpu["versions"] for part in version["parts"]}

    measured(empty_store, {"1.0": {RSA: 400}, "1.1": {RSA: 200}})
    quick: Costs = {"1.0": {RSA: 900, ECDSA: 200}, "1.1": {RSA: 900, ECDSA: 200}}
    measured(empty_store, quick, run_id="quick", day=1, purpose=Purpose.FIRST_LOOK)
    assert measured_in((1, PART)) == {"one"}
    assert measured_in(*HALVES) == {"quick"}


def test_a_mix_of_one_part_changes_as_the_upgrades_report_says(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}, "1.1": {RSA: 412, ECDSA: 200}})
    (cpu,) = asked(client, a_mix((1, PART)), to="fake@1.1")["cpus"]
    assert cpu["change"]["verdict"] == "more"
    assert cpu["change"]["move"] == pytest.approx(cpu["part_changes"][0]["move"])
    report = upgrade_report(client, "1.0", "1.1")
    of_report = next(cell for cell in report["cells"] if cell["case_id"] == RSA)
    server = {name: of_report["server"][name] for name in ("ratio", "low", "high")}
    assert cpu["change"]["move"] == pytest.approx(server)


def test_no_change_is_said_as_the_verdict_says(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}, "1.1": {RSA: 400, ECDSA: 200}})
    (cpu,) = asked(client, a_mix(*HALVES), to="fake@1.1")["cpus"]
    assert cpu["change"]["verdict"] == "same"
    assert "no change" in cpu["sentence"]


def test_other_parts_are_compared_in_each_version(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    """A server with a cheaper certificate for half of its clients: 300 instead of 400."""
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}, "1.1": {RSA: 200, ECDSA: 200}})
    (cpu,) = asked(client, a_mix(*HALVES, against=[(1, PART)]), to="fake@1.1")["cpus"]
    older, newer = cpu["versions"]
    assert older["instead"]["verdict"] == "less"
    assert older["instead"]["move"]["ratio"] == pytest.approx(0.75, rel=1e-3)
    assert newer["instead"]["move"]["ratio"] == pytest.approx(1, rel=1e-3)
    assert older["against"]["cores"]["value"] == pytest.approx(6, rel=1e-3)
    assert older["sentence"].startswith("With fake 1.0, the mix needs 4.5")
    assert "25.0%" in older["sentence"]
    assert [part["case_id"] for part in older["against_parts"]] == [RSA]


def test_the_beginning_of_a_version_means_the_newest(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    costs = {RSA: 400.0, ECDSA: 200.0}
    measured(empty_store, {"1.0.9": costs, "1.0.10": costs, "1.1": costs})
    ends = [
        asked(client, a_mix(*HALVES), version)["cpus"][0]["versions"][0]["end"]["version"]
        for version in ("fake@1.0", "fake@1", "fake@1.0.9", "fake@1.1")
    ]
    assert ends == ["1.0.10", "1.1", "1.0.9", "1.1"]
    (cpu,) = asked(client, a_mix(*HALVES))["cpus"]
    subject = cpu["versions"][0]["end"]["subject"]
    assert asked(client, a_mix(*HALVES), subject)["cpus"][0]["versions"][0]["end"]["subject"] == subject


def test_a_part_that_was_not_measured_is_named_with_a_spec_that_measures_it(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}, "1.1": {RSA: 400, ECDSA: 200}})
    report = asked(client, a_mix((0.5, PART), (0.5, UNMEASURED)), to="fake@1.1")
    assert report["cpus"] == []
    assert [(cell["version"], cell["reason"]) for cell in report["missing"]] == [
        ("1.0", "not measured"),
        ("1.1", "not measured"),
    ]
    plan = a_plan(report["spec_text"])
    assert [subject.reference for subject in plan.subjects] == ["fake@1.0", "fake@1.1"]
    assert {case.case_id for case in plan.cases} == {RSA, report["missing"][0]["case_id"]}


def test_a_part_that_the_version_cannot_do_needs_no_spec(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {"1.0": {RSA: 400}})
    report = asked(client, a_mix(*HALVES))
    assert [(cell["case_id"], cell["reason"]) for cell in report["missing"]] == [
        (ECDSA, f"{OutcomeKind.UNSUPPORTED}: no such group")
    ]
    assert (report["cpus"], report["spec_text"]) == ([], None)


def test_each_cpu_has_its_own_needs_and_gaps(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}})
    measured(empty_store, {"1.0": {RSA: 800, ECDSA: 400}}, run_id="two", day=1, host=OTHER)
    both = asked(client, a_mix(*HALVES))["cpus"]
    assert [cpu["host_kind"]["cpu_model"] for cpu in both] == [kind_of(OTHER), kind_of(HOST)]
    assert both[0]["versions"][0]["need"]["cores"]["value"] == pytest.approx(9, rel=1e-3)
    (here,) = asked(client, a_mix(*HALVES), cpu_model=kind_of(HOST))["cpus"]
    assert here == both[1]
    report = asked(client, a_mix(*HALVES), pool="local", cpu_model=kind_of(OTHER))
    assert len(report["cpus"]) == 1
    assert_problem(refused(client, a_mix(*HALVES), pool="elsewhere"), 404, "elsewhere")


def test_versions_of_runs_that_share_nothing_are_not_compared(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}})
    measured(empty_store, {"1.1": {RSA: 200, ECDSA: 200}}, run_id="two", day=1)
    (cpu,) = asked(client, a_mix(*HALVES), to="fake@1.1")["cpus"]
    assert cpu["change"] == {"verdict": "apart", "move": None, "resolves": None}
    assert [each["need"]["cores"]["value"] for each in cpu["versions"]] == pytest.approx([4.5, 3.0], rel=1e-3)
    assert "not compared" in cpu["sentence"]


def test_versions_of_two_runs_are_compared_through_what_both_measured(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    """The machine is 10% slower in the second run, which both runs' 1.2 shows: 1.0 is shown as there."""
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}, "1.2": {RSA: 300, ECDSA: 300}})
    measured(empty_store, {"1.1": {RSA: 220, ECDSA: 220}, "1.2": {RSA: 330, ECDSA: 330}}, run_id="two", day=1)
    (cpu,) = asked(client, a_mix(*HALVES), to="fake@1.1")["cpus"]
    assert cpu["change"]["move"]["ratio"] == pytest.approx(2 / 3, rel=2e-3)
    assert [each["need"]["cores"]["value"] for each in cpu["versions"]] == pytest.approx([4.95, 3.3], rel=2e-3)
    assert {len(each["run_ids"]) for each in cpu["part_changes"]} == {2}
    assert all(each["warnings"] for each in cpu["part_changes"])


def test_parts_of_different_runs_are_said_to_be_so(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}})
    run = a_run("two", created_at=NOON + timedelta(days=1), spec=SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA]"))
    empty_store.add_run(run)
    newer = [an_invocation(run, number, cpu_ns={"fake@1.0": 400 * US + number}) for number in range(6)]
    empty_store.add_invocations(run, newer)
    (cpu,) = asked(client, a_mix(*HALVES))["cpus"]
    assert {part["run_id"] for part in cpu["versions"][0]["parts"]} == {"one", "two"}
    assert len(cpu["warnings"]) == 1


def test_two_invocations_give_cores_without_an_interval(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}, "1.1": {RSA: 200, ECDSA: 200}}, count=2)
    (cpu,) = asked(client, a_mix(*HALVES, coresPerMachine=2), to="fake@1.1")["cpus"]
    cores = cpu["versions"][0]["need"]["cores"]
    assert (cores["low"], cores["high"]) == (None, None)
    assert cpu["versions"][0]["need"]["machines"] == {"value": 3, "low": None, "high": None, "invocations": None}
    assert (cpu["change"]["verdict"], cpu["change"]["move"]) == ("unresolved", None)


def test_a_case_can_be_named_by_its_id(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}})
    by_id = asked(client, a_mix((0.5, RSA), (0.5, ECDSA)))
    assert by_id == asked(client, a_mix(*HALVES))
    assert_problem(refused(client, a_mix((1, "tlsv9"))), 404, "tlsv9")


def test_whole_connections_are_another_number(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}})
    assert_problem(refused(client, a_mix(*HALVES, cost="connection")), 404, "fake 1.0")


@pytest.mark.parametrize(
    ("version", "to", "status", "says"),
    [
        ("fake@2.0", None, 404, "fake 2.0"),
        ("fake", None, 422, "LIBRARY@VERSION"),
        ("nss@1.0", None, 422, "LIBRARY@VERSION"),
        ("fake@1.0", "fake@1.0", 422, "the same"),
        ("fake@1.0", "openssl@3.0", 404, "openssl 3.0"),
    ],
)
def test_versions_without_results_or_sense_are_refused(
    client: httpx2.Client, empty_store: ClickHouseStore, version: str, to: str | None, status: int, says: str
) -> None:
    measured(empty_store, {"1.0": {RSA: 400, ECDSA: 200}})
    request = {"to": to} if to else {}
    assert_problem(refused(client, a_mix(*HALVES), version, **request), status, says)


def test_the_faults_of_a_mix_are_those_of_the_parser(client: httpx2.Client) -> None:
    mix = a_mix((0.5, PART), (0.6, {"protocol": "TLSv1.3", "keyExchange": "RSA"}))
    assert_problem(refused(client, mix), 422, "the shares sum to 1.1", "no such handshake")
    assert refused(client, "x" * (1 << 17)).status_code == 422


def test_a_part_whose_server_is_a_peer_is_refused_by_its_id_too(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    spec = SPEC.replace("[RSA, ECDHE-ECDSA]", '[RSA]\n  peer: ["server:openssl@system"]')
    run = a_run(spec=spec)
    (case,) = run.plan.cases
    assert isinstance(case, Case)
    empty_store.add_run(run)
    empty_store.add_invocations(run, [an_invocation(run, 0, case_id=case.case_id, cpu_ns={"fake@1.0": 1e6})])
    assert_problem(refused(client, a_mix((1, case.case_id))), 422, "the peer serves")


def test_a_web_servers_costs_are_not_added_to_those_in_memory(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    served = {**PART, "server": "nginx"}
    mix = a_mix((0.5, served), (0.5, OTHER_PART), cost="connection")
    assert_problem(refused(client, mix), 422, "some parts are served by a web server and others are not")
    spec = SPEC.replace("[RSA, ECDHE-ECDSA]", "[RSA]\n  server: [nginx]").replace("[1.0, 1.1]", "[1.0]")
    run = a_run(spec=spec)
    (case,) = run.plan.cases
    empty_store.add_run(run)
    plain = an_invocation(run, 0, case_id=case.case_id, cpu_ns={"fake@1.0": 1e6})
    cost = Sample(subject="fake@1.0", metric=Metric.SERVER_CONNECTION_CPU_NS, values=(500_000.0,))
    empty_store.add_invocations(run, [plain.model_copy(update={"samples": (*plain.samples, cost)})])
    report = asked(client, a_mix((1, served), cost="connection"))
    assert report["server"] == "nginx"
    assert report["cpus"][0]["versions"][0]["need"]["cores"]["value"] == pytest.approx(10_000 * 0.0005 / 0.5)
